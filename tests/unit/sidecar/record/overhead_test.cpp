// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/overhead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jprof::record {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using wire::Counter;

struct Capture {
  std::chrono::nanoseconds duration{10s};
  std::chrono::nanoseconds used{2s};
  std::chrono::nanoseconds handlers{0};
  std::chrono::nanoseconds delivery{0};
  std::chrono::nanoseconds thread{0};  // of the agent's, all
  std::chrono::nanoseconds settled{0}; // ... until `settled_after` the start
  std::chrono::nanoseconds settled_after{0};
  std::uint32_t permille = 20;
  bool at_least = false;
};

Overhead judge(const Capture& capture) {
  RecorderResult result;
  const auto set = [&result](Counter which, std::chrono::nanoseconds value) {
    result.counters[static_cast<std::size_t>(which)] = static_cast<std::uint64_t>(value.count());
  };
  result.max_overhead_permille = capture.permille;
  result.coverage.process = capture.used;
  result.coverage.at_least = capture.at_least;
  result.info.duration = capture.duration;
  set(Counter::kAgentCpuNanosBetween, capture.thread);
  set(Counter::kAgentCpuNanosSettled, capture.settled);
  set(Counter::kSettledNanos, capture.settled_after);
  return judge_overhead(
      result,
      {.thread_cpu = capture.thread, .handlers = capture.handlers, .delivery = capture.delivery});
}

TEST(Overhead, BlamesTheIntervalForWhatSamplesCost) {
  const Overhead overhead = judge({.handlers = 60ms, .delivery = 20ms, .thread = 10ms});

  EXPECT_THAT(overhead.warning,
              AllOf(HasSubstr("cost 4.50 % of the CPU time that the JVM used"),
                    HasSubstr("more than the 2 % of --max-overhead: 90.0 ms (10.0 ms of it in the"),
                    HasSubstr("0.90 % of a CPU"), HasSubstr("a longer --interval costs less")));
  EXPECT_THAT(overhead.note, IsEmpty());
}

// What is done once does not go on: 12 ms in the first second, 3.2 ms in each that follows.
TEST(Overhead, WarnsOfTheAgentsThreadOnlyOfWhatItGoesOnDoing) {
  Capture capture{.duration = 1s, .used = 300ms, .thread = 12ms};
  EXPECT_THAT(judge(capture).warning, IsEmpty());
  EXPECT_THAT(judge(capture).note, AllOf(HasSubstr("cost 4.00 % of the CPU time"),
                                         HasSubstr("12.0 ms of it is what every"),
                                         HasSubstr("a longer --duration costs a smaller share")));

  capture = {.duration = 11s, .used = 2s, .thread = 44ms, .settled = 12ms, .settled_after = 1s};
  EXPECT_THAT(judge(capture).warning, IsEmpty());
  EXPECT_THAT(judge(capture).note, HasSubstr("8.80 ms of it is what every capture does once"));

  capture.used = 1500ms; // 3.2 ms a second are too much for that
  EXPECT_THAT(judge(capture).warning,
              HasSubstr("which takes as much of a CPU at any --interval and for any --duration"));
  EXPECT_THAT(judge(capture).note, IsEmpty());
}

TEST(Overhead, WarnsOfAStartThatIsMuchByItself) {
  const Overhead overhead = judge({.duration = 2s, .used = 1s, .thread = 150ms});

  EXPECT_THAT(overhead.warning,
              HasSubstr("150 ms of it is what every capture does once, which a longer --duration"));
  EXPECT_THAT(overhead.note, IsEmpty());
}

// The agent holds itself to a share of a tenth of a CPU where the JVM uses less.
TEST(Overhead, IsNoShareOfNothing) {
  const Overhead idle = judge({.used = 100ms, .handlers = 19ms});
  EXPECT_THAT(idle.warning + idle.note, IsEmpty());
  EXPECT_THAT(judge({.used = 100ms, .handlers = 21ms}).warning,
              HasSubstr("more than the 2 % of --max-overhead (of a tenth of a CPU)"));
}

TEST(Overhead, IsSilentWithinTheLimitAndWhereThereIsNone) {
  for (const Capture& capture :
       {Capture{.handlers = 39ms}, Capture{.handlers = 90ms, .permille = 0},
        Capture{.handlers = 9ms, .permille = 1}, Capture{.used = 0s, .handlers = 90ms},
        Capture{.handlers = 90ms, .at_least = true}}) {
    const Overhead overhead = judge(capture);
    EXPECT_THAT(overhead.warning + overhead.note, IsEmpty());
  }
}

TEST(Overhead, BelievesNoCountersThatCannotBe) {
  const auto most = std::chrono::nanoseconds::max();
  for (const Capture& capture : {Capture{.thread = 500ms, .settled = most, .settled_after = 1s},
                                 Capture{.thread = 500ms, .settled = 1ms, .settled_after = most},
                                 Capture{.thread = 500ms, .settled = 501ms, .settled_after = 1s}}) {
    EXPECT_THAT(judge(capture).warning, HasSubstr("500 ms of it is what every capture does once"));
  }
}

} // namespace
} // namespace jprof::record
