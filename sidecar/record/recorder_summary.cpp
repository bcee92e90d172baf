// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/recorder_summary.h"

#include "lib/base/duration.h"
#include "lib/capture/old_code.h"
#include "sidecar/record/cpu_account.h"

namespace jprof::record {

using wire::Counter;

namespace {

constexpr char kCaptureAgain[] =
    "what was recorded until then is kept; capture again, and report it if it happens again";

std::chrono::system_clock::time_point plausible_start(std::uint64_t realtime_ns) {
  constexpr std::chrono::hours kMax{24};
  const auto now = std::chrono::system_clock::now();
  if (realtime_ns > std::uint64_t{1} << 62) {
    return now;
  }
  const std::chrono::system_clock::time_point start(
      std::chrono::nanoseconds(static_cast<std::int64_t>(realtime_ns)));
  return start > now - kMax && start < now + kMax ? start : now;
}

} // namespace

std::string_view engine_name(std::uint32_t engine) {
  switch (static_cast<wire::Engine>(engine)) {
  case wire::Engine::kCpuTimer:
    return "cpu-timer";
  case wire::Engine::kPerfClock:
    return "perf-clock";
  case wire::Engine::kWallClock:
    return "wall-clock";
  }
  return "unknown";
}

std::string_view walker_name(std::uint32_t walker) {
  switch (static_cast<wire::Walker>(walker)) {
  case wire::Walker::kVmStructs:
    return "vmstructs";
  case wire::Walker::kAsyncGetCallTrace:
    return "asgct";
  case wire::Walker::kGetStackTrace:
    return "jvmti";
  case wire::Walker::kJmx:
    return "jmx";
  }
  return "unknown";
}

std::vector<profile::Loss> losses_of(const RecorderResult& result) {
  std::vector<profile::Loss> losses;
  const auto add = [&](const char* reason, std::uint64_t samples, std::uint64_t weight) {
    if (samples > 0 || weight > 0) {
      losses.push_back({reason, samples, weight});
    }
  };
  add("ring full", result.counter(Counter::kOutcomeRingFull), result.counter(Counter::kLostWeight));
  add("inside our own handler", result.counter(Counter::kOutcomeNested), 0);
  add("in flight at the end", result.in_flight, 0);
  add("written by the JVM, but too much to read", result.left_out, 0);
  add("could not be written", result.unwritten.samples, result.unwritten.weight);
  return losses;
}

std::uint64_t sum_of_outcomes(const RecorderResult& result) {
  std::uint64_t sum = 0;
  for (const Counter outcome :
       {Counter::kOutcomeStack, Counter::kOutcomeError, Counter::kOutcomeRingFull,
        Counter::kOutcomeForeign, Counter::kOutcomeStale, Counter::kOutcomeNested}) {
    sum += result.counter(outcome);
  }
  return sum;
}

Ending early_end(wire::StopReason reason) {
  switch (reason) {
  case wire::StopReason::kNone:
  case wire::StopReason::kAsked:
  case wire::StopReason::kDeadline:
    return {};
  case wire::StopReason::kPeerGone:
    return {"the agent lost its connection to jprof", kCaptureAgain};
  case wire::StopReason::kOverhead:
    return {"the agent's cost exceeded the limit asked for",
            "raise --max-overhead, or choose a longer --interval"};
  case wire::StopReason::kVmExit:
    return {"the JVM ended", "what was recorded until then is kept; to have the rest, start the "
                             "JVM again, or choose a --duration that ends before it does"};
  case wire::StopReason::kHandlerReplaced:
    return {"something in the JVM took over the sampling signal",
            "end the other profiler in the JVM (jprof doctor looks for one), and capture again"};
  case wire::StopReason::kAgentError:
    return {"the agent failed", kCaptureAgain};
  }
  return {"the agent ended the recording (reason " +
              std::to_string(static_cast<std::uint32_t>(reason)) + ")",
          kCaptureAgain};
}

std::vector<std::pair<std::string, std::string>> facts_of(const RecorderResult& result,
                                                          std::chrono::nanoseconds interval) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add_unsampled = [&](const char* which, const ThreadRegistry::Unsampled& unsampled) {
    if (unsampled.threads > 0) {
      facts.emplace_back(which, std::to_string(unsampled.threads) + ", CPU " +
                                    base::format_duration(unsampled.cpu));
    }
  };
  facts.emplace_back("signals", std::to_string(result.counter(Counter::kEntered)));
  facts.emplace_back("samples without a whole stack", std::to_string(result.error_samples));
  if (std::string nominal = nominal_text(result); !nominal.empty()) {
    facts.emplace_back("weights", std::move(nominal));
  }
  if (result.rests.count > 0) {
    facts.emplace_back("rests of CPU time, beside the samples", std::to_string(result.rests.count));
  }
  facts.emplace_back("sums agree", result.accounted ? "yes" : "no");
  if (result.tick > interval) {
    facts.emplace_back("tick", "the kernel looks at CPU timers every " +
                                   base::format_duration(result.tick));
  }
  if (const std::uint64_t steps = result.counter(Counter::kDetailLost); steps > 0) {
    facts.emplace_back("detail given up for --max-overhead", std::to_string(steps) + " steps");
  }
  if (result.detail_cut) {
    facts.emplace_back("detail", "stacks were cut to stay within the sidecar's memory");
  }
  if (result.damaged > 0) {
    facts.emplace_back("damaged entries", std::to_string(result.damaged));
  }
  facts.emplace_back("CPU time", capture::coverage_text(result.coverage));
  if (std::string warning = coverage_warning_of(result); !warning.empty()) {
    facts.emplace_back(profile::kWarningFact, std::move(warning));
  }
  if (std::string old = capture::old_code_text(result.old_code, result.coverage.samples);
      !old.empty()) {
    facts.emplace_back("old code", std::move(old));
  }
  add_unsampled("threads that block the signal", result.blocked);
  add_unsampled("threads without a timer", result.never_armed);
  add_unsampled("threads in a sandbox of their own", result.sandboxed);
  if (const std::uint64_t refused = result.counter(Counter::kTimerLimit); refused > 0) {
    facts.emplace_back("fewer timers than threads",
                       std::to_string(refused) +
                           " threads found none (RLIMIT_SIGPENDING); timers were moved " +
                           std::to_string(result.counter(Counter::kTimersMoved)) + " times");
  }
  return facts;
}

profile::ProfileInfo opening_info(const RecorderInput& input, const RecorderOptions& options,
                                  const wire::RegionHeader& header) {
  profile::ProfileInfo info = input.info;
  profile::EventInfo& event = info.events.front();
  event.name = "cpu";
  event.unit = profile::Unit::kNanoseconds;
  event.engine = engine_name(header.engine);
  event.walker = walker_name(header.walker);
  event.interval = options.interval;
  info.start = plausible_start(header.start_realtime_ns);
  info.has_times = true;
  info.has_threads = true;
  return info;
}

} // namespace jprof::record
