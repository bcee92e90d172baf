// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/cpu_account.h"

#include <algorithm>

namespace jprof::record {
namespace {

using capture::time_text;
using std::chrono::nanoseconds;
using wire::Counter;

// The agent reads the process's clock twice a second, and may be late.
constexpr nanoseconds kStale{600'000'000};
constexpr nanoseconds kWorthNaming{1'000'000};

// Of the process's clock; 0 if the agent did not come to the second one.
nanoseconds between_readings(const RecorderResult& result) {
  const std::uint64_t start = result.counter(Counter::kProcessCpuNanosAtStart);
  const std::uint64_t stop = result.counter(Counter::kProcessCpuNanosAtStop);
  return nanos(stop > start ? stop - start : 0);
}

// According to the clocks of the single threads.
nanoseconds accounted(const RecorderResult& result, nanoseconds rests) {
  return rests + nanos(result.counter(Counter::kWeight)) +
         nanos(result.counter(Counter::kLostWeight)) +
         nanos(result.counter(Counter::kAgentCpuNanosBetween));
}

std::string causes_of(const RecorderResult& result) {
  std::string text;
  const auto add = [&](const std::string& cause) { text += (text.empty() ? "" : ", ") + cause; };
  const auto add_threads = [&](const ThreadRegistry::Unsampled& unsampled, const char* why) {
    if (unsampled.cpu.count() > 0) {
      add(time_text(unsampled.cpu) + " in " + std::to_string(unsampled.threads) + " threads that " +
          why);
    }
  };
  if (const std::uint64_t lost = result.counter(Counter::kLostWeight); lost > 0) {
    add(time_text(nanos(lost)) + " in samples that were lost");
  }
  if (result.unwritten.weight > 0) {
    add(time_text(nanos(result.unwritten.weight)) + " in samples that could not be written");
  }
  add_threads(result.blocked, "block the sampling signal");
  add_threads(result.never_armed, "got no timer");
  add_threads(result.sandboxed, "have seccomp filters of their own");
  if (result.counter(Counter::kThreadSlotsFull) > 0) {
    add(std::to_string(result.counter(Counter::kThreadSlotsFull)) +
        " threads for which the table of threads was full");
  }
  // What remains once those have been named can only come from short-lived threads.
  const nanoseconds too_little = result.coverage.not_sampled - result.blocked.cpu -
                                 result.never_armed.cpu - result.sandboxed.cpu;
  if (too_little > kWorthNaming) {
    add(time_text(too_little) +
        " in threads that used too little for a sample (a longer capture samples more of them)");
  }
  if (result.coverage.ended_unseen > kWorthNaming) {
    add(time_text(result.coverage.ended_unseen) + " in threads that ended before they were found");
  }
  return text.empty() ? "no cause is known" : "known causes: " + text;
}

} // namespace

nanoseconds nanos(std::uint64_t count) {
  constexpr std::uint64_t kMax = std::uint64_t{1}
                                 << 60; // sums of a few such values do not overflow
  return nanoseconds(static_cast<std::int64_t>(std::min(count, kMax)));
}

nanoseconds process_cpu(const RecorderResult& result, nanoseconds rests) {
  const nanoseconds most = between_readings(result);
  const nanoseconds held = accounted(result, rests);
  if (result.cpu_at_least && result.counter(Counter::kProcessCpuNanosAtStart) > 0) {
    return std::max(most, held); // its samples are newer than the last look
  }
  const nanoseconds arming = std::min(most, nanos(result.counter(Counter::kArmingCpuNanos)));
  return std::clamp(held, most - arming, most);
}

nanoseconds ended_unseen(const RecorderResult& result, nanoseconds rests) {
  constexpr nanoseconds kMin{1'000'000};
  constexpr std::int64_t kMinPart = 1000;
  const nanoseconds process = process_cpu(result, rests);
  const nanoseconds unseen = process - accounted(result, rests);
  return unseen > kMin && unseen > process / kMinPart ? unseen : nanoseconds(0);
}

capture::Coverage coverage_of(const RecorderResult& result, nanoseconds interval,
                              nanoseconds unclean) {
  capture::Coverage out;
  out.process = process_cpu(result, nanos(result.rests.weight_ns() + result.unwritten.rests_ns));
  out.at_least = result.cpu_at_least && out.process.count() > 0;
  out.samples = nanos(result.weight - result.rests.weight_ns());
  out.after_last = nanos(result.rests.after_last_ns);
  out.not_sampled = nanos(result.rests.not_sampled_ns);
  out.ended_unseen = nanos(result.rests.ended_unseen_ns);
  out.handlers = nanos(result.counter(Counter::kHandlerNanos));
  out.agent = nanos(result.counter(Counter::kAgentCpuNanosBetween));
  const nanoseconds in_force =
      std::max(interval, nanos(result.counter(Counter::kIntervalNanosNow)));
  out.tolerance = capture::timer_tolerance(in_force, result.tick, result.threads, out.process);
  if (unclean.count() > 0) {
    const double share = static_cast<double>(kStale.count()) / static_cast<double>(unclean.count());
    const auto most = std::max(out.process, out.samples);
    out.tolerance +=
        nanos(static_cast<std::uint64_t>(std::min(1.0, share) * static_cast<double>(most.count())));
    // The last samples are newer than the last reading of that clock, however long nothing has run
    // since: samples that add up to more than it said do not contradict it.
    out.tolerance = std::max(out.tolerance, -out.missing());
  }
  return out;
}

std::optional<nanoseconds> old_code_of(const RecorderResult& result) {
  switch (static_cast<wire::InliningDetail>(result.counter(Counter::kInliningDetail))) {
  case wire::InliningDetail::kBefore:
    return nanoseconds(0);
  case wire::InliningDetail::kSinceStart:
    return std::min(nanos(result.counter(Counter::kOldCodeNanos)), result.coverage.samples);
  case wire::InliningDetail::kUnknown:
    break;
  }
  return std::nullopt;
}

std::string nominal_text(const RecorderResult& result) {
  constexpr std::uint64_t kMin = 5;
  constexpr std::uint64_t kFew = 20; // a twentieth
  const std::uint64_t nominal = std::min(result.nominal_samples, result.samples);
  if (nominal < kMin || nominal < result.samples / kFew) {
    return {};
  }
  return std::to_string(nominal) + " of " + std::to_string(result.samples) +
         " samples weigh the intervals that had passed, not CPU time that was measured, and their "
         "handlers' own time is an estimate: a thread may make system calls in its handler only "
         "once the agent's thread has seen that it has no seccomp filter of its own, and the "
         "agent's thread got to that late (a JVM that is short of CPU: see its limit), or not at "
         "all";
}

std::string coverage_warning_of(const RecorderResult& result) {
  return result.coverage.complete() ? std::string()
                                    : coverage_warning(result.coverage, causes_of(result));
}

} // namespace jprof::record
