// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/retry.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace jprof::store {
namespace {

using namespace std::chrono_literals;

RetryPolicy recording(std::vector<std::chrono::milliseconds>& waits) {
  RetryPolicy policy;
  policy.sleep = [&waits](std::chrono::milliseconds delay, const std::stop_token&) {
    waits.push_back(delay);
  };
  return policy;
}

TEST(Retrier, MakesAsManyAttemptsAsThePolicySays) {
  std::vector<std::chrono::milliseconds> waits;
  Retrier retrier(recording(waits), {});

  int attempts = 1;
  while (retrier.wait_for_next(std::nullopt)) {
    ++attempts;
  }

  EXPECT_EQ(attempts, 5);
  EXPECT_EQ(waits.size(), 4U);
}

TEST(Retrier, DrawsDelaysFromADoublingRange) {
  std::chrono::milliseconds longest[4] = {};
  std::chrono::milliseconds shortest[4] = {1h, 1h, 1h, 1h};
  for (int run = 0; run < 2000; ++run) {
    std::vector<std::chrono::milliseconds> waits;
    Retrier retrier(recording(waits), {});
    while (retrier.wait_for_next(std::nullopt)) {
    }
    for (std::size_t i = 0; i < 4; ++i) {
      longest[i] = std::max(longest[i], waits[i]);
      shortest[i] = std::min(shortest[i], waits[i]);
    }
  }

  // 2000 uniform draws leave the outer 5 % of the range empty with a chance of 0.95^2000 < 1e-44.
  for (int i = 0; i < 4; ++i) {
    const auto range = 500ms * (1 << i);
    EXPECT_LE(longest[i], range);
    EXPECT_GT(longest[i], range * 95 / 100);
    EXPECT_LT(shortest[i], range * 5 / 100);
  }
}

TEST(Retrier, CapsTheDelay) {
  std::vector<std::chrono::milliseconds> waits;
  RetryPolicy policy = recording(waits);
  policy.attempts = 64;
  policy.max_delay = 3s;
  Retrier retrier(policy, {});

  while (retrier.wait_for_next(std::nullopt)) {
  }

  EXPECT_EQ(waits.size(), 63U);
  EXPECT_LE(*std::max_element(waits.begin(), waits.end()), 3s);
}

TEST(Retrier, WaitsAtLeastAsLongAsTheServerAsks) {
  std::vector<std::chrono::milliseconds> waits;
  Retrier retrier(recording(waits), {});

  EXPECT_TRUE(retrier.wait_for_next(20s));

  EXPECT_GE(waits.at(0), 20s);
  EXPECT_LE(waits.at(0), 20s + 500ms);
}

TEST(Retrier, LeavesALongPauseToTheCaller) {
  std::vector<std::chrono::milliseconds> waits;
  Retrier retrier(recording(waits), {});

  EXPECT_FALSE(retrier.wait_for_next(3600s));
  EXPECT_TRUE(waits.empty());
}

TEST(Retrier, StopsWhileItWaits) {
  std::stop_source stop;
  RetryPolicy policy;
  policy.base_delay = 1h;
  policy.max_delay = 1h;
  Retrier retrier(policy, stop.get_token());
  const std::jthread stopper([&] { stop.request_stop(); });

  const auto started = std::chrono::steady_clock::now();
  while (retrier.wait_for_next(60s)) {
  }

  EXPECT_LT(std::chrono::steady_clock::now() - started, 30s);
}

TEST(RetryQuota, EndsTheRepetitionsOfAnOutage) {
  std::vector<std::chrono::milliseconds> waits;
  RetryPolicy policy = recording(waits);
  policy.quota = std::make_shared<RetryQuota>(20);

  for (int request = 0; request < 10; ++request) {
    Retrier retrier(policy, {});
    while (retrier.wait_for_next(std::nullopt)) {
    }
  }

  EXPECT_EQ(waits.size(), 4U); // of the 40 without a quota
}

TEST(RetryQuota, FillsUpAgainButNotBeyondItsSize) {
  RetryQuota quota(10);
  EXPECT_TRUE(quota.take(10));
  EXPECT_FALSE(quota.take(1));

  quota.give_back(100);

  EXPECT_TRUE(quota.take(10));
  EXPECT_FALSE(quota.take(1));
}

} // namespace
} // namespace jprof::store
