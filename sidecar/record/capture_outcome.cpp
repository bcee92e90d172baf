// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/capture_outcome.h"

#include <algorithm>

namespace jprof::record {
namespace {

using std::chrono::nanoseconds;
using wire::Counter;

nanoseconds nanos(std::uint64_t count) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62; // a hostile counter may say anything
  return nanoseconds(static_cast<std::int64_t>(std::min(count, kMost)));
}

AgentCost cost_of(const RecorderResult& result) {
  const std::uint64_t signals = result.counter(Counter::kEntered);
  std::uint64_t delivery = 0;
  if (__builtin_mul_overflow(signals, result.counter(Counter::kDeliveryNanos), &delivery)) {
    delivery = UINT64_MAX;
  }
  return {.thread_cpu = nanos(result.counter(Counter::kAgentCpuNanos)),
          .handlers = nanos(result.counter(Counter::kHandlerNanos)),
          .longest_handler = nanos(result.counter(Counter::kHandlerMaxNanos)),
          .delivery = nanos(delivery),
          .start = nanos(result.counter(Counter::kStartNanos))};
}

} // namespace

void fill_outcome(const RecorderResult& result, CaptureOutcome& out) {
  const profile::ProfileInfo& info = result.info;
  out.event = info.event;
  out.engine = info.engine;
  out.walker = info.walker;
  out.start = info.start;
  out.duration = info.duration;
  out.interval = info.interval;
  out.interval_got = info.interval_got;
  out.tick = result.tick;
  out.samples = result.samples;
  out.error_samples = result.error_samples;
  out.weight = result.weight;
  out.signals = result.counter(Counter::kEntered);
  out.in_flight = result.in_flight;
  out.accounted = result.accounted;
  out.losses = info.losses;
  const std::uint64_t cpu_start = result.counter(Counter::kProcessCpuNanosAtStart);
  const std::uint64_t cpu_stop = result.counter(Counter::kProcessCpuNanosAtStop);
  out.process_cpu = nanos(cpu_stop > cpu_start ? cpu_stop - cpu_start : 0);
  out.threads = result.threads;
  out.threads_unarmed = result.counter(Counter::kThreadsNeverArmed);
  out.cost = cost_of(result);
  out.hottest = result.hottest;
  out.interrupted = result.interrupted;
  out.partial = info.partial;
  out.partial_reason = info.partial_reason;
}

int CaptureOutcome::exit_code() const {
  if (!file_errors.empty()) {
    return base::exit_code(base::ErrorCode::kNotStored);
  }
  return partial ? base::exit_code(base::ErrorCode::kPartialCapture) : 0;
}

} // namespace jprof::record
