// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/capture_job.h"
#include "sidecar/record/capture_outcome.h"
#include "tests/unit/sidecar/record/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace jprof::record {
namespace {

using namespace std::chrono_literals;
using jprof::testing::ScriptedAgent;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using wire::Counter;

CaptureOutcome outcome_of(const Recorded& recorded) {
  CaptureOutcome outcome;
  if (recorded.result) {
    fill_outcome(*recorded.result, outcome);
  }
  return outcome;
}

// So much in samples, of a process that has used 100 ms since before its first timer was made; what
// its threads used until the last of the first timers was may be in their samples.
capture::Coverage coverage_with(std::uint64_t samples_ns, std::uint64_t arming_ns) {
  ScriptedAgent agent([=](Agent& a) {
    const std::uint32_t stack = java_stack(a, "x");
    a.send_started();
    a.region().add_sample({.weight = samples_ns, .stack = stack});
    a.region().count(Counter::kProcessCpuNanosAtStart, 1'000'000'000);
    a.region().count(Counter::kProcessCpuNanosAtStop, 1'100'000'000);
    a.region().count(Counter::kArmingCpuNanos, arming_ns);
    a.region().count(Counter::kAgentCpuNanosBetween, 10'000'000);
    a.send_stopped(wire::StopReason::kAsked);
  });
  const Recorded recorded = run(agent);
  return recorded.result ? recorded.result->coverage : capture::Coverage();
}

TEST(Recorder, TakesTheTotalFromWhereThreadsAccountsBegan) {
  const capture::Coverage first = coverage_with(90'000'000, 40'000'000); // all were armed at once
  EXPECT_EQ(first.process, 100ms);
  EXPECT_EQ(first.missing(), 0ms);
  const capture::Coverage last = coverage_with(50'000'000, 40'000'000); // ... only at the end
  EXPECT_EQ(last.process, 60ms);
  EXPECT_EQ(last.missing(), 0ms);
  EXPECT_EQ(last.ended_unseen, 0ms);
  const capture::Coverage unseen = coverage_with(30'000'000, 40'000'000); // no arming explains it
  EXPECT_EQ(unseen.process, 60ms);
  EXPECT_EQ(unseen.missing(), 0ms);
  EXPECT_EQ(unseen.ended_unseen, 20ms);
  EXPECT_EQ(coverage_with(50'000'000, UINT64_MAX).process, 60ms); // a hostile agent's
}

// A JVM that is killed after the agent's last look at the clocks: 743 ms of which 802 were in
// samples.
Recorded killed(std::optional<std::chrono::nanoseconds> cpu_time) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "x");
    a.send_started();
    a.region().count(Counter::kProcessCpuNanosAtStart, 1'000'000'000);
    a.region().count(Counter::kProcessCpuNanosAtStop, 1'743'000'000);
    a.region().count(Counter::kAgentCpuNanosBetween, 20'000'000);
    a.region().count(Counter::kAgentCpuNanos, 1'000'000'000);
    a.region().add_sample({.weight = 802'000'000, .stack = stack});
  });
  RecorderInput input;
  input.cpu_time = [cpu_time] { return cpu_time; };
  return run(agent, quick_options(), std::move(input));
}

TEST(Recorder, AsksTheKernelWhatAJvmUsedThatDied) {
  const Recorded recorded = killed(1'850ms);

  ASSERT_TRUE(recorded.result);
  EXPECT_EQ(recorded.result->coverage.process, 850ms);
  EXPECT_EQ(recorded.result->coverage.missing(), 28ms);
  EXPECT_FALSE(recorded.result->coverage.at_least);
}

TEST(Recorder, GivesNoShareOfATotalThatNobodyKnows) {
  const Recorded recorded = killed(std::nullopt);

  ASSERT_TRUE(recorded.result);
  const capture::Coverage& coverage = recorded.result->coverage;
  EXPECT_TRUE(coverage.at_least);
  EXPECT_EQ(coverage.process, 822ms);
  EXPECT_EQ(coverage.missing(), 0ms);
  EXPECT_EQ(
      capture::coverage_text(coverage),
      "at least 822 ms used by the JVM: 802 ms in samples (0 ns of it in handlers), 20.0 ms in "
      "the agent's thread, 0 ns in none of these");
  EXPECT_THAT(outcome_of(recorded).warnings, IsEmpty());
}

TEST(Recorder, BelievesNoEarlierLookThanTheAgentsOwn) {
  const Recorded recorded = killed(1'100ms);

  ASSERT_TRUE(recorded.result);
  EXPECT_EQ(recorded.result->coverage.process, 743ms);
}

// Two samples of a JVM whose CLOCK_MONOTONIC is ahead of ours, 1 and 2 ms after its start.
Recorded in_time_namespace(std::chrono::nanoseconds is_ahead, std::chrono::nanoseconds told) {
  ScriptedAgent agent([is_ahead](Agent& a) {
    a.region().header().start_mono_ns += static_cast<std::uint64_t>(is_ahead.count());
    const std::uint32_t stack = java_stack(a, "x");
    a.send_started();
    ASSERT_TRUE(a.hear(5000ms)); // until a drain has been: then 2 ms have passed
    while (std::chrono::steady_clock::now().time_since_epoch() + is_ahead <
           std::chrono::nanoseconds(a.region().header().start_mono_ns) + 2ms) {
    }
    a.region().add_sample({.time_ns = 1'000'000, .stack = stack});
    a.region().add_sample({.time_ns = 2'000'000, .stack = stack});
    a.send_stopped(wire::StopReason::kAsked);
  });
  RecorderInput input;
  input.clock_ahead = told;
  return run(agent, quick_options(), std::move(input));
}

TEST(Recorder, TranslatesTheClockOfATimeNamespace) {
  for (const std::chrono::nanoseconds ahead :
       {std::chrono::nanoseconds(1'000'000s), std::chrono::nanoseconds(-500ms)}) {
    const Recorded recorded = in_time_namespace(ahead, ahead);

    ASSERT_TRUE(recorded.result);
    EXPECT_EQ(recorded.result->damaged, 0U);
    const auto file = recorded.read();
    ASSERT_EQ(file.profile.event().samples.size(), 2U);
    EXPECT_EQ(file.profile.event().samples[0].time, 1ms);
    EXPECT_EQ(file.profile.event().samples[1].time, 2ms);
  }
}

TEST(Recorder, TranslatesNothingThatIsInOurTime) {
  EXPECT_EQ(in_time_namespace(0s, 1'000'000s).result->damaged, 0U);
  EXPECT_GT(in_time_namespace(1'000'000s, 0s).result->damaged, 0U);
  EXPECT_GT(in_time_namespace(1'000'000s, 2'000'000s).result->damaged, 0U);
}

// The first weighs the phase in which its thread was armed.
TEST(Recorder, TakesTheIntervalThatWasGotFromWholeIntervals) {
  const auto got = [](std::uint64_t samples) {
    ScriptedAgent agent([samples](Agent& a) {
      const std::uint32_t stack = java_stack(a, "x");
      a.send_started();
      for (const std::uint32_t tid : {101U, 102U}) {
        a.region().add_sample(
            {.weight = 3'000'001, .thread = tid - 101, .tid = tid, .stack = stack});
        for (std::uint64_t i = 1; i < samples; ++i) {
          a.region().add_sample(
              {.weight = 100'000'002, .thread = tid - 101, .tid = tid, .stack = stack});
        }
      }
      a.send_stopped(wire::StopReason::kAsked);
    });
    const Recorded recorded = run(agent);
    return recorded.result ? recorded.result->info.events.front().interval_got : -1ns;
  };
  EXPECT_EQ(got(4), 100'000'002ns);
  EXPECT_EQ(got(1), 0ns);
}

TEST(Recorder, SaysWhereWeightsAreOnlyIntervals) {
  const auto with = [](std::uint64_t measured, std::uint64_t nominal) {
    ScriptedAgent agent([=](Agent& a) {
      a.region().header().interval_ns = 1'000'000;
      const std::uint32_t stack = java_stack(a, "x");
      a.send_started();
      for (std::uint64_t i = 0; i < measured + nominal; ++i) {
        a.region().add_sample({.weight = i < measured ? 1'000'001U : 2'000'000U, .stack = stack});
      }
      a.send_stopped(wire::StopReason::kAsked);
    });
    return outcome_of(run(agent));
  };
  const CaptureOutcome all = with(0, 30);
  EXPECT_THAT(all.notes, Contains(HasSubstr("30 of 30 samples weigh the intervals")));
  EXPECT_EQ(measured_of(all).nominal_samples, 30U);
  const CaptureOutcome some = with(200, 6); // as at any start
  EXPECT_THAT(some.notes, Not(Contains(HasSubstr("weigh the intervals"))));
  EXPECT_EQ(measured_of(some).nominal_samples, 6U);
}

} // namespace
} // namespace jprof::record
