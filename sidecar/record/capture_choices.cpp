// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/capture_choices.h"

#include "lib/formats/format.h"

#include <chrono>
#include <ctime>

namespace jprof::record {
namespace {

using base::ErrorCode;
using std::chrono::nanoseconds;

// The tick of CONFIG_HZ, on which CPU timers fire.
nanoseconds tick() {
  timespec resolution{};
  ::clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
  return std::chrono::seconds(resolution.tv_sec) + nanoseconds(resolution.tv_nsec);
}

} // namespace

base::Result<wire::Walker> walker_of(const std::string& name) {
  for (const wire::Walker walker : {wire::Walker::kVmStructs, wire::Walker::kAsyncGetCallTrace,
                                    wire::Walker::kGetStackTrace, wire::Walker::kJmx}) {
    if (walker_name(static_cast<std::uint32_t>(walker)) == name) {
      return walker;
    }
  }
  return base::make_failure(ErrorCode::kUsage, "there is no walker '" + name + "'",
                            "use vmstructs (jprof's own), asgct, jvmti or jmx");
}

base::Result<wire::Engine> engine_of(const CaptureRequest& request) {
  if (request.engine == "auto") {
    return request.interval < 2 * tick() ? wire::Engine::kPerfClock : wire::Engine::kCpuTimer;
  }
  for (const wire::Engine engine : {wire::Engine::kCpuTimer, wire::Engine::kPerfClock}) {
    if (engine_name(static_cast<std::uint32_t>(engine)) == request.engine) {
      return engine;
    }
  }
  return base::make_failure(ErrorCode::kUsage, "there is no engine '" + request.engine + "'",
                            "use auto, cpu-timer or perf-clock");
}

base::Status check_request(const CaptureRequest& request) {
  constexpr std::chrono::microseconds kMinInterval{50};
  if (request.event != "cpu") {
    return base::make_failure(ErrorCode::kUsage, "event '" + request.event + "' cannot be recorded",
                              "use --event cpu");
  }
  if (request.duration <= nanoseconds(0) || request.duration > std::chrono::hours(24)) {
    return base::make_failure(ErrorCode::kUsage, "the duration must be above 0 and at most 24h",
                              "give --duration a value with a unit: 10s, 2m");
  }
  if (request.interval < kMinInterval || request.interval > std::chrono::seconds(10)) {
    return base::make_failure(ErrorCode::kUsage,
                              "the interval must be at least 50us and at most 10s",
                              "give --interval a value with a unit: 10ms is the default");
  }
  for (const std::string& ending : request.formats) {
    JPROF_TRY(formats::format_of("profile." + ending));
  }
  JPROF_TRY(walker_of(request.walker));
  JPROF_TRY(engine_of(request));
  return {};
}

RecorderOptions options_of(const CaptureRequest& request) {
  RecorderOptions options;
  options.duration = request.duration;
  options.interval = request.interval;
  options.max_depth = request.max_depth;
  options.max_overhead_permille = request.max_overhead_permille;
  options.engine = engine_of(request).value();
  options.walker = walker_of(request.walker).value();
  options.may_leave_behind = request.leave_behind;
  return options;
}

} // namespace jprof::record
