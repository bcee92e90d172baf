// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/session_summary.h"

namespace jprof::record {

using wire::Counter;

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

std::string early_end(wire::StopReason reason) {
  switch (reason) {
  case wire::StopReason::kNone:
  case wire::StopReason::kAsked:
  case wire::StopReason::kDeadline:
    return {};
  case wire::StopReason::kPeerGone:
    return "the agent lost its connection to jprof";
  case wire::StopReason::kOverhead:
    return "the agent's cost went over the limit asked for";
  case wire::StopReason::kVmExit:
    return "the JVM ended";
  case wire::StopReason::kHandlerReplaced:
    return "something in the JVM took the sampling signal over";
  case wire::StopReason::kAgentError:
    return "the agent failed";
  }
  return "the agent ended the session (reason " +
         std::to_string(static_cast<std::uint32_t>(reason)) + ")";
}

} // namespace jprof::record
