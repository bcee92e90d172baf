// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/capture_job.h"
#include "sidecar/record/capture_outcome.h"
#include "tests/unit/sidecar/record/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace jprof::record {
namespace {

using jprof::testing::ScriptedAgent;
using ::testing::HasSubstr;

// What a capture of one second in samples says of code that was compiled before it: the manifest's
// number, and the recording's fact.
std::pair<base::Json, std::string> said_of_old_code(wire::InliningDetail detail,
                                                    std::uint64_t old_ns) {
  ScriptedAgent agent([=](Agent& a) {
    const std::uint32_t stack = java_stack(a, "x");
    a.send_started();
    a.region().add_sample({.weight = 1'000'000'000, .stack = stack});
    a.region().count(wire::Counter::kInliningDetail, static_cast<std::uint64_t>(detail));
    a.region().count(wire::Counter::kOldCodeNanos, old_ns);
    a.send_stopped(wire::StopReason::kAsked);
  });
  const Recorded recorded = run(agent);
  EXPECT_TRUE(recorded.result);
  CaptureOutcome outcome;
  fill_outcome(*recorded.result, outcome);
  std::string said;
  const auto file = recorded.read();
  for (const auto& [label, value] : file.profile.info().facts) {
    said += label == "old code" ? value : "";
  }
  return {capture::measured_json(measured_of(outcome)).at("oldCodeNs"), said};
}

TEST(OldCode, IsToldInTheManifestAndInTheRecording) {
  const auto [some, said_of_some] =
      said_of_old_code(wire::InliningDetail::kSinceStart, 310'000'000);
  EXPECT_EQ(some, 310'000'000);
  EXPECT_THAT(said_of_some,
              ::testing::AllOf(HasSubstr("31.0 % of the samples' time is in code compiled before"),
                               HasSubstr("-XX:+DebugNonSafepoints")));
  EXPECT_EQ(said_of_old_code(wire::InliningDetail::kSinceStart, ~std::uint64_t{0}).first,
            1'000'000'000)
      << "not more than there was, whatever the JVM writes";
  // None of it: either there was none, or the option was there from the start.
  const std::pair<base::Json, std::string> none(0, "");
  EXPECT_EQ(said_of_old_code(wire::InliningDetail::kSinceStart, 0), none);
  EXPECT_EQ(said_of_old_code(wire::InliningDetail::kBefore, 310'000'000), none);
  // What is unknown is not 0; nor is what a newer agent may say.
  for (const auto detail : {wire::InliningDetail::kUnknown, wire::InliningDetail{7}}) {
    const auto [unknown, said] = said_of_old_code(detail, 0);
    EXPECT_TRUE(unknown.is_null());
    EXPECT_THAT(said, HasSubstr("unknown"));
  }
}

} // namespace
} // namespace jprof::record
