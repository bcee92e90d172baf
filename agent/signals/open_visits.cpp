// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/signals/open_visits.h"

#include "agent/engines/cpu_timer.h"
#include "agent/os/process.h"
#include "agent/os/system.h"
#include "agent/sampling/handler.h"

namespace jprof::agent {
namespace {

// The first look comes after this time, each later one after twice the time before: 300 threads on
// a tenth of a CPU need that time for themselves.
constexpr std::uint64_t kFirstLookNs = 10'000'000;
constexpr std::uint64_t kMaxPauseNs = 250'000'000;
// None of our handlers takes this long.
constexpr std::uint64_t kRanNs = 10'000'000;

// True if what the kernel wrote on the stack for the visit is no longer there.
bool is_overwritten(const sampling::Visit& visit) {
  std::uint64_t word = 0;
  switch (os::read_own_word(arch::stack_pointer_in(visit.frame), &word)) {
  case os::WordRead::kRead:
    return word != visit.sp;
  case os::WordRead::kUnmapped:
    return true;
  case os::WordRead::kUnknown:
    break;
  }
  return false;
}

} // namespace

void OpenVisits::begin(sampling::Sampler* sampler, int signal) {
  sampler_ = sampler;
  signal_ = signal;
  count_ = 0;
}

OpenVisits::Suspect OpenVisits::remembered(std::uint32_t slot, std::uint32_t token) const {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (suspects_[i].slot == slot && suspects_[i].token == token) {
      return suspects_[i];
    }
  }
  return {.slot = slot, .token = token, .took_signals = false, .cpu_ns = 0};
}

void OpenVisits::look() {
  if (sampling::handlers_inside() == 0) {
    count_ = 0;
    return;
  }
  Suspect open[kMaxSuspects];
  std::uint32_t count = 0;
  for (std::uint32_t slot = 0; slot < sampler_->thread_capacity && count < kMaxSuspects; ++slot) {
    if (sampler_->thread_slots[slot].tid == 0) {
      break; // never used, like all after it
    }
    const std::uint32_t token = sampling::open_visit(sampler_->visits[slot]);
    if (token == 0) {
      continue;
    }
    open[count] = remembered(slot, token);
    if (is_over(open[count])) {
      sampling::end_visit(*sampler_, sampler_->threads[slot], token);
    } else {
      ++count;
    }
  }
  for (count_ = 0; count_ < count; ++count_) {
    suspects_[count_] = open[count_];
  }
}

// Each reason holds when it is observed; a thread that has returned meanwhile has ended the visit
// itself, which end_visit() finds out.
bool OpenVisits::is_over(Suspect& suspect) const {
  const sampling::Visit& visit = sampler_->visits[suspect.slot];
  const std::int32_t tid = sampler_->threads[suspect.slot].tid;
  if (tid == 0 || !engines::has_cpu_clock(tid) || is_overwritten(visit)) {
    return true;
  }
  if (std::uint64_t sp = 0; os::stack_pointer_of(tid, &sp)) {
    suspect.took_signals = false;
    return sampling::is_left_behind(visit, sp);
  }
  // It is running. The kernel blocks our signal until the handler returns, and siglongjmp()
  // unblocks it.
  if (os::blocks_signal(tid, signal_)) {
    suspect.took_signals = false;
    return false;
  }
  const std::uint64_t cpu = engines::thread_cpu_ns(tid);
  if (!suspect.took_signals) {
    suspect.took_signals = true;
    suspect.cpu_ns = cpu;
  }
  return cpu - suspect.cpu_ns >= kRanNs;
}

std::uint32_t OpenVisits::wait(std::uint64_t timeout_ns) {
  const std::uint64_t deadline = os::clock_ns(CLOCK_MONOTONIC) + timeout_ns;
  for (std::uint64_t pause = kFirstLookNs;;) {
    const std::uint64_t now = os::clock_ns(CLOCK_MONOTONIC);
    const std::uint64_t left = now < deadline ? deadline - now : 0;
    const std::uint32_t inside = sampling::wait_for_handlers(pause < left ? pause : left);
    if (inside == 0 || left == 0) {
      return inside;
    }
    look();
    pause = pause * 2 < kMaxPauseNs ? pause * 2 : kMaxPauseNs;
  }
}

} // namespace jprof::agent
