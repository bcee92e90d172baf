// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
// How ThreadTable finds threads that begin, and those of them that soon end.
#include "agent/engines/cpu_timer.h"
#include "agent/os/system.h"
#include "agent/recording/thread_change.h"
#include "agent/recording/thread_table.h"

namespace jprof::agent::recording {
namespace {

constexpr std::int64_t kLookNs = 15'000'000;
constexpr std::int64_t kLookWhileBornNs = 5'000'000;
// A look that takes t is followed by a pause of this many t (0.3 % of a CPU), but of 15 ms at most.
constexpr std::uint64_t kLookCostFactor = 333;
constexpr std::uint64_t kMaxLookCostNs = 100'000; // above it, rare other work is included
// Arming and disarming a thread costs some 15 us, so in a flood of threads only this many are armed
// at first sight.
constexpr std::uint64_t kArmEveryNs = 10'000'000;
constexpr std::uint32_t kMaxArmsAtOnce = 64;
constexpr std::uint64_t kYoungNs = 1'000'000'000;
constexpr std::uint64_t kYoungEveryNs = 100'000'000;

} // namespace

void ThreadTable::find_births(std::uint64_t now) {
  if (!births_.is_open()) {
    return;
  }
  note_look_cost();
  finding_births_ = true;
  const bool all = births_.look(
      now,
      [](std::int32_t tid, void* context) { static_cast<ThreadTable*>(context)->see_born(tid); },
      this);
  finding_births_ = false;
  if (!all) {
    next_scan_ns_ = next_scan_ns_ < earliest_scan_ns_ ? next_scan_ns_ : earliest_scan_ns_;
  }
}

// In a flood of threads most have ended by the next look, before a timer could tell anything about
// them. Only some are armed at first sight, the others if they live until the second look. No time
// is lost: a thread's first sample stands for all of its time, and the process's clock covers the
// rest.
void ThreadTable::see_born(std::int32_t tid) {
  const std::uint64_t now = os::clock_ns(CLOCK_MONOTONIC);
  last_birth_ns_ = now;
  std::uint32_t slot = 0;
  if (births_.is_asked_again(tid) && !index_.find(tid, &slot) && !may_arm_at_once(now)) {
    return;
  }
  see(tid);
}

bool ThreadTable::may_arm_at_once(std::uint64_t now) {
  if (now >= next_arm_ns_ + kMaxArmsAtOnce * kArmEveryNs) {
    next_arm_ns_ = now - kMaxArmsAtOnce * kArmEveryNs;
  }
  if (now < next_arm_ns_) {
    return false;
  }
  next_arm_ns_ += kArmEveryNs;
  return true;
}

// Waking up is most of the cost, 5 to 30 us: the machine may be virtual, or its caches in use by
// others.
void ThreadTable::note_look_cost() {
  const std::uint64_t cpu = os::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const std::uint64_t cost = cpu - cpu_at_look_ns_;
  if (cpu_at_look_ns_ != 0) {
    look_cost_ns_ = (look_cost_ns_ * 15 + (cost < kMaxLookCostNs ? cost : kMaxLookCostNs)) / 16;
  }
  cpu_at_look_ns_ = cpu;
}

std::int64_t ThreadTable::look_every_ns(std::uint64_t now) const {
  const auto cheap = static_cast<std::int64_t>(look_cost_ns_ * kLookCostFactor);
  if (now - last_birth_ns_ >= kYoungNs || cheap > kLookNs) {
    return kLookNs;
  }
  return cheap > kLookWhileBornNs ? cheap : kLookWhileBornNs;
}

// Looks every tenth of a second, because a timer whose thread has ended counts against
// RLIMIT_SIGPENDING until it is deleted. Also reads their CPU time, while there is a clock.
void ThreadTable::look_at_young(std::uint64_t now) {
  if (now < next_young_ns_ || now >= last_birth_ns_ + kYoungNs + kYoungEveryNs) {
    return;
  }
  next_young_ns_ = now + kYoungEveryNs;
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    const std::uint64_t born = tables_.notes[slot].born_ns;
    sampling::ThreadEntry& entry = sampler_->threads[slot];
    if (entry.tid == 0 || born == 0 || now - born >= kYoungNs) {
      continue;
    }
    if (!engines::has_cpu_clock(entry.tid) || is_another(entry)) {
      retire(slot);
      continue;
    }
    note_cpu(slot, engines::thread_cpu_ns(entry.tid), now);
    if (tables_.thread_slots[slot].name_bytes == 0 && may_name(now)) {
      name_by_kernel(slot);
    }
  }
}

} // namespace jprof::agent::recording
