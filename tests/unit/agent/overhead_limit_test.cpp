// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/session/overhead_limit.h"
#include "lib/wire/detail.h"

#include <gtest/gtest.h>

namespace jprof::agent {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMilli = 1'000'000;

// Feeds a sample each second; says after how many the limit was exceeded first, 0: never.
int exceeded_after(OverheadLimit limit, std::uint64_t cost_each, std::uint64_t cpu_each) {
  for (std::uint64_t i = 1; i <= 20; ++i) {
    if (limit.is_exceeded(
            {.at_ns = i * kSecond, .handler_ns = i * cost_each, .process_cpu_ns = i * cpu_each})) {
      return static_cast<int>(i);
    }
  }
  return 0;
}

TEST(OverheadLimit, ComparesWithTheCpuTimeOfTheProcess) {
  EXPECT_EQ(exceeded_after(OverheadLimit(20), 19 * kMilli, kSecond), 0);
  EXPECT_EQ(exceeded_after(OverheadLimit(20), 21 * kMilli, kSecond), 3);
  EXPECT_EQ(exceeded_after(OverheadLimit(20), 70 * kMilli, 4 * kSecond), 0);
}

TEST(OverheadLimit, CountsAnIdleProcessAsATenthOfACpu) {
  EXPECT_EQ(exceeded_after(OverheadLimit(20), kMilli, 2 * kMilli), 0);
  EXPECT_EQ(exceeded_after(OverheadLimit(20), 3 * kMilli, 2 * kMilli), 3);
}

TEST(OverheadLimit, ForgivesOneCostlySecond) {
  OverheadLimit limit(20);
  std::uint64_t cost = 0;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    cost += i % 2 == 0 ? 30 * kMilli : 0;
    EXPECT_FALSE(limit.is_exceeded(
        {.at_ns = i * kSecond, .handler_ns = cost, .process_cpu_ns = i * kSecond}));
  }
}

TEST(OverheadLimit, BeginsAnewAfterEachStep) {
  OverheadLimit limit(20);
  int steps = 0;
  for (std::uint64_t i = 1; i <= 9; ++i) {
    steps +=
        limit.is_exceeded(
            {.at_ns = i * kSecond, .handler_ns = i * 30 * kMilli, .process_cpu_ns = i * kSecond})
            ? 1
            : 0;
  }
  EXPECT_EQ(steps, 4); // the first second is not judged, then each second one
}

TEST(OverheadLimit, CountsEachSignalsDelivery) {
  OverheadLimit limit(20);
  int exceeded = 0;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    exceeded += limit.is_exceeded({.at_ns = i * kSecond,
                                   .signals = i * 1000,
                                   .delivery_ns = i < 11 ? 19'000U : 21'000U,
                                   .process_cpu_ns = i * kSecond});
    EXPECT_EQ(exceeded, i < 12 ? 0 : static_cast<int>(i - 10) / 2) << i;
  }
}

// Applied to the signals from the start, each lower one would give a second of negative cost.
TEST(OverheadLimit, IsNotDisturbedByLowerMeasurements) {
  OverheadLimit limit(20);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    EXPECT_FALSE(limit.is_exceeded({.at_ns = i * kSecond,
                                    .signals = i * 1000,
                                    .delivery_ns = i < 10 ? 19'000U : (i == 10 ? 8'000U : 3'000U),
                                    .process_cpu_ns = i * kSecond}));
  }
}

TEST(OverheadLimit, OfZeroIsNone) {
  EXPECT_EQ(exceeded_after(OverheadLimit(0), kSecond, kSecond), 0);
}

TEST(Detail, IsLostInOneOrder) {
  EXPECT_EQ(wire::detail_after(0).interval_factor, 1U);
  for (std::uint32_t step = 1; step <= wire::kDetailSteps; ++step) {
    const wire::Detail before = wire::detail_after(step - 1);
    const wire::Detail after = wire::detail_after(step);
    EXPECT_LE(after.max_depth, before.max_depth);
    EXPECT_GE(after.interval_factor, before.interval_factor);
    EXPECT_TRUE(after.max_depth < before.max_depth ||
                after.interval_factor > before.interval_factor);
  }
  EXPECT_EQ(wire::detail_after(wire::kDetailSteps + 1).interval_factor, 16U);
}

} // namespace
} // namespace jprof::agent
