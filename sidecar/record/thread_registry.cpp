// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/thread_registry.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

namespace jprof::record {
namespace {

// A hostile agent may invent a thread for every sample; beyond this limit they share one.
constexpr std::size_t kMaxThreads = 200'000;
constexpr unsigned kUpdatesPerCpuWrite = 16;
constexpr std::uint32_t kNoIncarnation =
    0xffffffffU; // of a thread that is only known from its samples

bool has_flag(std::uint16_t flags, wire::ThreadFlag flag) {
  return (flags & static_cast<std::uint16_t>(flag)) != 0;
}

std::chrono::nanoseconds cpu_of(const wire::ThreadSlot& slot) {
  const std::uint64_t from = slot.cpu_at_arm_ns;
  const std::uint64_t to = slot.cpu_at_disarm_ns;
  constexpr std::uint64_t kMax = std::uint64_t{1} << 60;
  return std::chrono::nanoseconds(to > from && to - from < kMax ? to - from : 0);
}

} // namespace

ThreadRegistry::ThreadRegistry(const RegionReader& region, profile::RecordingWriter& writer)
    : region_(region), writer_(writer) {}

void ThreadRegistry::learn(const RegionReader::Thread& found, bool write_cpu) {
  const wire::ThreadSlot& slot = found.slot;
  const std::string_view name(slot.name, slot.name_bytes);
  const profile::Thread thread{
      .name = writer_.intern_string(name.empty() ? "thread " + std::to_string(slot.tid)
                                                 : std::string(name)),
      .tid = slot.tid,
      .java_id = slot.java_id,
      .cpu = cpu_of(slot)};
  const Key key{found.index, slot.tid, slot.incarnation};
  auto at = threads_.find(key);
  if (at == threads_.end()) {
    // Samples may have come before the slot could be read.
    const auto early = threads_.find(Key{found.index, slot.tid, kNoIncarnation});
    Entry entry{.id = early != threads_.end() ? early->second.id : writer_.add_thread(thread),
                .thread = thread,
                .flags = slot.flags,
                .written_cpu = thread.cpu,
                .mounted = early != threads_.end() ? early->second.mounted : std::nullopt,
                .last_sample_ns = early != threads_.end() ? early->second.last_sample_ns : 0};
    if (early != threads_.end()) {
      writer_.set_thread(entry.id, thread);
      if (entry.mounted) {
        writer_.set_thread(*entry.mounted, mounted_thread(thread));
      }
      threads_.erase(early);
    }
    learn_rest(threads_.emplace(key, entry).first->second, slot);
    return;
  }
  Entry& entry = at->second;
  const bool renamed = entry.thread.name != thread.name || entry.thread.java_id != thread.java_id;
  entry.flags = slot.flags;
  entry.thread = thread;
  if (renamed || (write_cpu && entry.written_cpu != thread.cpu)) {
    entry.written_cpu = thread.cpu;
    writer_.set_thread(entry.id, thread);
  }
  if (renamed && entry.mounted) {
    writer_.set_thread(*entry.mounted, mounted_thread(thread));
  }
  learn_rest(entry, slot);
}

// At most what the thread has used: a hostile agent may say anything.
void ThreadRegistry::learn_rest(Entry& entry, const wire::ThreadSlot& slot) {
  if (entry.rest_told || slot.disarmed_ns == 0) {
    return;
  }
  entry.rest_told = true;
  const std::uint64_t rest =
      std::min(slot.rest_ns, static_cast<std::uint64_t>(cpu_of(slot).count()));
  if (rest > 0) {
    told_.push_back({&entry, rest, slot.armed_ns, slot.disarmed_ns});
  }
}

std::vector<ThreadRegistry::Rest> ThreadRegistry::take_rests() {
  std::vector<Rest> rests;
  rests.reserve(told_.size());
  for (const Told& told : told_) {
    const std::uint64_t last = told.entry->last_sample_ns;
    const std::uint64_t from = std::min(std::max(last, told.armed_ns), told.disarmed_ns);
    rests.push_back({.thread = told.entry->id,
                     .weight_ns = told.rest_ns,
                     .time_ns = std::midpoint(from, told.disarmed_ns),
                     .was_sampled = last != 0});
  }
  told_.clear();
  return rests;
}

profile::Thread ThreadRegistry::mounted_thread(const profile::Thread& carrier) {
  return {.name = writer_.intern_string(std::string(writer_.string(carrier.name)) +
                                        " (virtual threads)"),
          .tid = carrier.tid,
          .java_id = 0,
          .cpu = std::chrono::nanoseconds(0)}; // it is the carrier's
}

void ThreadRegistry::update(CpuTimes cpu_times) {
  const bool write_cpu = cpu_times == CpuTimes::kWrite || ++updates_ % kUpdatesPerCpuWrite == 0;
  for (const RegionReader::Thread& found : region_.read_threads()) {
    if (threads_.size() < kMaxThreads) {
      learn(found, write_cpu);
    }
  }
}

ThreadRegistry::Entry& ThreadRegistry::note_sample(const wire::SampleSlot& sample) {
  Entry& entry = entry_of(sample);
  if (entry.last_sample_ns != 0) {
    ++repeated_.samples;
    repeated_.weight_ns += sample.weight;
  }
  entry.last_sample_ns = std::max({entry.last_sample_ns, sample.time_ns, std::uint64_t{1}});
  return entry;
}

profile::ThreadId ThreadRegistry::thread_of(const wire::SampleSlot& sample) {
  return note_sample(sample).id;
}

profile::ThreadId ThreadRegistry::mounted_on(const wire::SampleSlot& sample) {
  Entry& entry = note_sample(sample);
  if (!entry.mounted) {
    entry.mounted = writer_.add_thread(mounted_thread(entry.thread));
  }
  return *entry.mounted;
}

ThreadRegistry::Entry& ThreadRegistry::entry_of(const wire::SampleSlot& sample) {
  // The last incarnation of that slot and tid: the incarnations of a slot sort in ascending order.
  const auto behind = threads_.upper_bound(Key{sample.thread, sample.tid, kNoIncarnation});
  if (behind != threads_.begin()) {
    auto& [key, entry] = *std::prev(behind);
    if (std::get<0>(key) == sample.thread && std::get<1>(key) == sample.tid) {
      return entry;
    }
  }
  const bool full = threads_.size() >= kMaxThreads;
  const Key key = full ? Key{kNoIncarnation, 0, kNoIncarnation}
                       : Key{sample.thread, sample.tid, kNoIncarnation};
  const auto [at, is_new] = threads_.try_emplace(key);
  if (is_new) {
    at->second.thread = {.name = writer_.intern_string(
                             full ? "[too many threads]" : "thread " + std::to_string(sample.tid)),
                         .tid = full ? 0 : sample.tid};
    at->second.id = writer_.add_thread(at->second.thread);
  }
  return at->second;
}

std::chrono::nanoseconds ThreadRegistry::total_cpu() const {
  std::chrono::nanoseconds sum{0};
  for (const auto& [key, entry] : threads_) {
    sum += entry.thread.cpu;
  }
  return sum;
}

ThreadRegistry::Unsampled ThreadRegistry::unsampled(wire::ThreadFlag why) const {
  Unsampled sum;
  for (const auto& [key, entry] : threads_) {
    if (has_flag(entry.flags, why)) {
      ++sum.threads;
      sum.cpu += entry.thread.cpu;
    }
  }
  return sum;
}

} // namespace jprof::record
