// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/intake.h"

#include "lib/profile/rest.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace jprof::record {
namespace {

// CPU time whose time of use is unknown is written in at most this many parts.
constexpr std::int64_t kMaxParts = 60;
constexpr std::size_t kShortDepth = 256;
constexpr std::size_t kMinDepth = 32;

std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

profile::ThreadState state_of(std::uint8_t state) {
  switch (static_cast<wire::ThreadState>(state)) {
  case wire::ThreadState::kRunning:
    return profile::ThreadState::kRunning;
  case wire::ThreadState::kRunnable:
    return profile::ThreadState::kRunnable;
  case wire::ThreadState::kSleeping:
    return profile::ThreadState::kSleeping;
  case wire::ThreadState::kWaiting:
    return profile::ThreadState::kWaiting;
  case wire::ThreadState::kParked:
    return profile::ThreadState::kParked;
  case wire::ThreadState::kBlocked:
    return profile::ThreadState::kBlocked;
  case wire::ThreadState::kInNative:
    return profile::ThreadState::kInNative;
  case wire::ThreadState::kUnknown:
    break;
  }
  return profile::ThreadState::kUnknown;
}

} // namespace

Intake::Intake(RegionReader& region, profile::RecordingWriter& writer, NativeNamer native,
               const IntakeLimits& limits)
    : region_(region), writer_(writer), namer_(region, writer, std::move(native)),
      threads_(region, writer), limits_(limits) {
  // One more frame says why a walk ended, and another marks the gap in a cut stack.
  constexpr std::size_t kBesides = 2;
  region_.refuse_deeper_than(limits.depth == 0 ? 0 : limits.depth + kBesides);
}

bool Intake::full() const {
  return dictionary_full_ || samples_ >= limits_.samples ||
         writer_.bytes_written() >= limits_.recording_bytes;
}

bool Intake::overfull() const {
  return writer_.dictionary_bytes() > 2 * limits_.dictionary_bytes;
}

base::Status Intake::drain(Reading reading, const Enough& enough) {
  JPROF_TRY(take_waiting(enough));
  if (behind() > 0) {
    return {};
  }
  JPROF_TRY(region_.read_samples(reading, slots_));
  next_slot_ = 0;
  // Only now: a sample that was written while we read the ring is newer than the beginning of the
  // read.
  now_ns_ = monotonic_ns() + ahead_ns_;
  JPROF_TRY(take_waiting(enough));
  if (behind() == 0 && region_.drained_generation() > forgotten_generation_) {
    forgotten_generation_ = region_.drained_generation();
    namer_.forget(forgotten_generation_);
  }
  if (behind() == 0) {
    write_rests();
  }
  return {};
}

void Intake::write_rests() {
  for (const ThreadRegistry::Rest& rest : threads_.take_rests()) {
    write_rest(rest, rest.was_sampled ? profile::kAfterLastSample : profile::kNotSampled);
  }
}

std::uint64_t& Intake::rest_of(std::string_view label) {
  return label == profile::kAfterLastSample ? rests_.after_last_ns
         : label == profile::kNotSampled    ? rests_.not_sampled_ns
                                            : rests_.ended_unseen_ns;
}

void Intake::write_rest(const ThreadRegistry::Rest& rest, std::string_view label) {
  if (sink_error_) {
    unwritten_.weight += rest.weight_ns;
    unwritten_.rests_ns += rest.weight_ns;
    return;
  }
  const std::uint64_t start = region_.header().start_mono_ns;
  const std::uint64_t time = std::clamp(rest.time_ns, start, std::max(start, now_ns_));
  ++rests_.count;
  rest_of(label) += rest.weight_ns;
  write({.time = std::chrono::nanoseconds(time - start),
         .thread = rest.thread,
         .stack = namer_.rest(label),
         .state = profile::ThreadState::kRunning,
         .count = 0, // time without a sample
         .weight = rest.weight_ns});
}

// When it was used is unknown, so it is spread evenly.
void Intake::write_unseen(std::uint64_t weight_ns, std::chrono::nanoseconds duration) {
  const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(1, duration.count()));
  const auto parts = static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(duration / std::chrono::seconds(1), 1, kMaxParts));
  const profile::ThreadId thread =
      writer_.add_thread({.name = writer_.intern_string("[threads that ended unseen]"),
                          .cpu = std::chrono::nanoseconds(static_cast<std::int64_t>(weight_ns))});
  std::uint64_t left = weight_ns;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint64_t weight = left / (parts - part);
    left -= weight;
    const std::uint64_t time = length / (2 * parts) * (2 * part + 1);
    write_rest(
        {.thread = thread, .weight_ns = weight, .time_ns = region_.header().start_mono_ns + time},
        profile::kEndedUnseen);
  }
}

// Memory and time are checked after each sample: the depth and the region's size limit what one
// sample costs, but nothing limits what a whole ring of them costs.
base::Status Intake::take_waiting(const Enough& enough) {
  while (next_slot_ < slots_.size() && !overfull()) {
    take(slots_[next_slot_]);
    ++next_slot_;
    watch_memory();
    if (enough && enough()) {
      break;
    }
  }
  return {};
}

void Intake::take(const wire::SampleSlot& slot) {
  if (sink_error_) {
    ++unwritten_.samples;
    unwritten_.weight += slot.weight;
    return;
  }
  const std::uint64_t start = region_.header().start_mono_ns;
  std::uint64_t time = slot.time_ns;
  if (time < start || time > now_ns_) {
    ++damaged_times_; // both clocks are the same machine's
    time = time < start ? start : now_ns_;
  }
  const profile::StackId stack = namer_.stack(slot);
  const std::span<const profile::FrameId> frames = writer_.stack(stack);
  ++samples_;
  weight_ += slot.weight;
  nominal_samples_ += is_nominal(slot.weight) ? 1U : 0U;
  count_error(stack);
  if (!frames.empty()) {
    hot_.add(frames.back(), slot.weight);
  }
  write({.time = std::chrono::nanoseconds(time > start ? time - start : 0),
         .thread = is_mounted(stack) ? threads_.mounted_on(slot) : threads_.thread_of(slot),
         .stack = stack,
         .state = state_of(slot.state),
         .weight = slot.weight});
}

// The agent's intervals in force are multiples of the one asked for (wire::detail_after).
bool Intake::is_nominal(std::uint64_t weight_ns) const {
  const std::uint64_t interval = region_.header().interval_ns;
  return interval > 0 && weight_ns > 0 && weight_ns % interval == 0;
}

void Intake::write(const profile::Sample& sample) {
  last_time_ = std::max(last_time_, sample.time);
  check_sink(writer_.add_sample(sample));
}

void Intake::flush() {
  check_sink(writer_.flush());
}

// What the sink has not taken is not in the recording, and the sums are those of the recording.
void Intake::check_sink(const base::Status& status) {
  if (status) {
    return;
  }
  sink_error_ = status.error();
  for (const std::vector<profile::Sample>& event : writer_.give_up()) {
    for (const profile::Sample& sample : event) {
      take_back(sample);
    }
  }
}

void Intake::take_back(const profile::Sample& sample) {
  const std::span<const profile::FrameId> frames = writer_.stack(sample.stack);
  unwritten_.weight += sample.weight;
  if (sample.count == 0) {
    --rests_.count;
    rest_of(writer_.string(writer_.frame(frames.back()).name)) -= sample.weight;
    unwritten_.rests_ns += sample.weight;
    return;
  }
  ++unwritten_.samples;
  --samples_;
  weight_ -= sample.weight;
  if (!frames.empty()) {
    hot_.remove(frames.back(), sample.weight);
  }
  if (const std::string_view label = error_label(sample.stack); !label.empty()) {
    --error_samples_;
    const auto reason = error_reasons_.find(label);
    if (--reason->second == 0) {
      error_reasons_.erase(reason);
    }
  }
}

// A stack is not whole if it is empty or has an error frame at either end: a walk that broke off
// leaves one at the root, where it would have continued.
std::string_view Intake::error_label(profile::StackId stack) const {
  const std::span<const profile::FrameId> frames = writer_.stack(stack);
  if (frames.empty()) {
    return "[empty_stack]";
  }
  const profile::Frame& leaf = writer_.frame(frames.back());
  const profile::Frame& root = writer_.frame(frames.front());
  if (leaf.kind != profile::FrameKind::kError && root.kind != profile::FrameKind::kError) {
    return {};
  }
  return writer_.string((root.kind == profile::FrameKind::kError ? root : leaf).name);
}

void Intake::count_error(profile::StackId stack) {
  const std::string_view label = error_label(stack);
  if (label.empty()) {
    return;
  }
  ++error_samples_;
  const auto found =
      error_reasons_.find(label); // only a few: the labels are ours (error_frame_label)
  ++(found == error_reasons_.end() ? error_reasons_.emplace(label, 0).first : found)->second;
}

std::vector<ErrorReason> Intake::error_reasons() const {
  std::vector<ErrorReason> reasons;
  for (const auto& [label, samples] : error_reasons_) {
    reasons.push_back({label, samples});
  }
  std::ranges::stable_sort(reasons, std::greater(), &ErrorReason::samples);
  return reasons;
}

// True for the stack of a virtual thread, which is on top of the frames of its carrier. If its own
// first frames could not be read from the heap, the stub that fetches them stands for them.
bool Intake::shows_mounted(std::span<const profile::FrameId> root_first) const {
  const auto name = [this](profile::FrameId id) { return writer_.string(writer_.frame(id).name); };
  for (std::size_t i = 0; i + 1 < root_first.size(); ++i) {
    const profile::FrameId next = root_first[i + 1];
    if (name(root_first[i]) == "jdk.internal.vm.Continuation.run" &&
        (writer_.frame(next).kind == profile::FrameKind::kStub ||
         name(next) == "jdk.internal.vm.Continuation.enterSpecial")) {
      return true;
    }
    if (name(root_first[i]) == "java.lang.VirtualThread.run") {
      return true;
    }
  }
  return false;
}

bool Intake::is_mounted(profile::StackId stack) {
  const auto at = static_cast<std::size_t>(stack);
  if (at >= mounted_.size()) {
    mounted_.resize(at + 1, Mounted::kUnknown);
  }
  if (mounted_[at] == Mounted::kUnknown) {
    mounted_[at] = shows_mounted(writer_.stack(stack)) ? Mounted::kYes : Mounted::kNo;
  }
  return mounted_[at] == Mounted::kYes;
}

// The fixed order in which detail is given up (ARCHITECTURE.md); totals stay exact throughout.
void Intake::watch_memory() {
  const std::size_t used = writer_.dictionary_bytes();
  const std::size_t limit = limits_.dictionary_bytes;
  if (used > limit / 2) {
    namer_.forget_lines();
  }
  if (used > limit / 4 * 3) {
    namer_.limit_depth(used > limit ? 2 : used > limit / 8 * 7 ? kMinDepth : kShortDepth);
    detail_was_cut_ = true;
  }
  dictionary_full_ = used > limit + limit / 2;
}

} // namespace jprof::record
