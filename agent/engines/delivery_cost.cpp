// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/engines/delivery_cost.h"

#include "agent/engines/cpu_timer.h"
#include "agent/os/system.h"
#include "agent/sampling/handler.h"

namespace jprof::agent::engines {
namespace {

constexpr std::uint32_t kMaxGaps = 31;
constexpr std::uint64_t kEveryNs = 100'000;
// The limit is a number of clock readings, not a time, because readings happen only while this
// thread runs. On a crowded machine it may wait longer than all gaps take together, and a single
// gap might be such a wait.
constexpr std::uint32_t kMaxLooks = 200'000;
constexpr std::uint32_t kMinGaps = 7; // fewer make no reliable median

void insert_ascending(std::uint64_t* values, std::uint32_t count, std::uint64_t value) {
  std::uint32_t at = count;
  for (; at > 0 && values[at - 1] > value; --at) {
    values[at] = values[at - 1];
  }
  values[at] = value;
}

// Finds the gaps in which a signal came, in ascending order; returns how many.
std::uint32_t collect_gaps(const sampling::Sampler& sampler, std::uint64_t* gaps) {
  std::uint32_t count = 0;
  std::uint32_t seen = sampling::calibration_signals();
  std::uint64_t before = sampling::monotonic_ns(sampler);
  for (std::uint32_t looks = 0; looks < kMaxLooks && count < kMaxGaps; ++looks) {
    const std::uint64_t now = sampling::monotonic_ns(sampler);
    if (const std::uint32_t signals = sampling::calibration_signals(); signals != seen) {
      // The signal came between the two readings, or after the second: then the next gap counts.
      const std::uint64_t after = sampling::monotonic_ns(sampler);
      const std::uint64_t gap = now - before > after - now ? now - before : after - now;
      insert_ascending(gaps, count++, gap);
      seen = signals;
      before = after;
    } else {
      before = now;
    }
  }
  return count;
}

} // namespace

std::uint64_t measure_delivery(const sampling::Sampler& sampler, int signal) {
  const std::uint64_t mask =
      ~(std::uint64_t{1} << (signal - 1) | std::uint64_t{1} << (SIGSEGV - 1) |
        std::uint64_t{1} << (SIGBUS - 1));
  std::uint64_t mask_before = 0;
  std::int32_t timer = -1;
  if (make_timer(CLOCK_MONOTONIC, signal, sampling::calibration_mark(), &timer) != 0) {
    return 0;
  }
  arch::system_call(SYS_rt_sigprocmask, SIG_SETMASK, os::as_argument(&mask),
                    os::as_argument(&mask_before), 8);
  start_timer(timer, kEveryNs, kEveryNs);
  std::uint64_t gaps[kMaxGaps];
  const std::uint32_t count = collect_gaps(sampler, gaps);
  remove_timer(timer);
  arch::system_call(SYS_rt_sigprocmask, SIG_SETMASK, os::as_argument(&mask_before), 0, 8);
  return count < kMinGaps ? 0 : gaps[count / 2];
}

void DeliveryCost::add(std::uint64_t measured_ns) {
  ++tries_;
  if (measured_ns != 0) {
    insert_ascending(ascending_ns_, found_++, measured_ns);
  }
}

} // namespace jprof::agent::engines
