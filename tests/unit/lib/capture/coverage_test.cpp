// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/coverage.h"

#include <gtest/gtest.h>

namespace jprof::capture {
namespace {

using namespace std::chrono_literals;

Coverage whole() {
  return {.process = 10s, .samples = 9800ms, .handlers = 20ms, .agent = 100ms, .tolerance = 50ms};
}

TEST(Coverage, SaysNothingOfARestThatTimersLeave) {
  EXPECT_EQ(whole().missing(), 100ms);
  EXPECT_TRUE(whole().complete());
  EXPECT_EQ(coverage_warning(whole(), "known causes: x"), "");
  EXPECT_EQ(coverage_text(whole()),
            "10.0 s used by the JVM: 9.80 s in samples (20.0 ms of it in handlers), 100 ms in the "
            "agent's thread, 100 ms (1.0 %) in none of these");
}

// What is in the profile without a stack is not missing there; of threads of which nothing is known
// it is no more to go by than what is missing.
TEST(Coverage, TellsTheRestsOfThreadsApart) {
  Coverage coverage = whole();
  coverage.samples = 9s;
  coverage.after_last = 600ms;
  coverage.not_sampled = 150ms;
  coverage.ended_unseen = 50ms;

  EXPECT_EQ(coverage.missing(), 100ms);
  EXPECT_EQ(coverage.unexplained(), 300ms);
  EXPECT_TRUE(coverage.complete());
  EXPECT_EQ(coverage_text(coverage),
            "10.0 s used by the JVM: 9.00 s in samples (20.0 ms of it in handlers), 600 ms after "
            "threads' last samples, 150 ms in threads without a sample, 50.0 ms in threads that "
            "ended unseen, 100 ms in the agent's thread, 100 ms (1.0 %) in none of these");
  EXPECT_EQ(coverage_from_json(coverage_json(coverage)), coverage);

  coverage.samples = 8600ms;
  coverage.ended_unseen = 450ms;
  EXPECT_FALSE(coverage.complete());
  EXPECT_EQ(coverage_warning(coverage, ""),
            "7.0 % of the CPU time that the JVM used (700 ms of 10.0 s) is in no sample: shares "
            "may mislead");
}

TEST(Coverage, WarnsOfTimeInNoSampleWhateverTheCause) {
  Coverage coverage = whole();
  coverage.samples = 530ms;

  EXPECT_FALSE(coverage.complete());
  EXPECT_EQ(coverage_warning(coverage, "known causes: x"),
            "93.7 % of the CPU time that the JVM used (9.37 s of 10.0 s) is in no sample: shares "
            "may mislead; known causes: x");
}

TEST(Coverage, WarnsOfMoreTimeThanThereWas) {
  Coverage coverage = whole();
  coverage.samples = 12s;

  EXPECT_FALSE(coverage.complete());
  EXPECT_EQ(coverage_warning(coverage, "").substr(0, 36), "21.0 % more CPU time is in samples t");
}

// Both must be passed: five in a hundred, and what timers can be wrong by.
TEST(Coverage, WarnsOnlyBeyondFivePercentAndThreeStandardErrors) {
  Coverage coverage = whole();
  coverage.samples = 9390ms; // 5.1 %
  EXPECT_FALSE(coverage.complete());
  coverage.tolerance = 600ms;
  EXPECT_TRUE(coverage.complete());
  coverage.tolerance = 0ms;
  coverage.samples = 9410ms; // 4.9 %
  EXPECT_TRUE(coverage.complete());
}

TEST(Coverage, OfAnUnknownClockIsNeitherCompleteNorAWarning) {
  const Coverage unknown{.samples = 1s};

  EXPECT_EQ(coverage_warning(unknown, ""), "");
  EXPECT_FALSE(coverage_json(unknown)["complete"].get<bool>());
  EXPECT_NE(coverage_text(unknown).find("unknown"), std::string::npos);
}

// The ends of a thread's time are known to a step; no thread is wrong by more than it has used.
TEST(Coverage, KnowsWhatTimersCanBeWrongBy) {
  EXPECT_EQ(timer_tolerance(10ms, 4ms, 6, 1000s), 30ms);
  EXPECT_EQ(timer_tolerance(1ms, 10ms, 6, 1000s), 30ms);
  EXPECT_EQ(timer_tolerance(10ms, 4ms, 1'000'000, 4s), 600ms);
  EXPECT_EQ(timer_tolerance(10ms, 4ms, 100, 0s), 0s);
}

TEST(Coverage, SurvivesTheWayAndReadsAnythingElseAsNothing) {
  EXPECT_EQ(coverage_from_json(coverage_json(whole())), whole());
  EXPECT_EQ(coverage_from_json(base::Json::parse("{\"processNs\":-4,\"samplesNs\":\"x\"}")),
            Coverage{});
}

} // namespace
} // namespace jprof::capture
