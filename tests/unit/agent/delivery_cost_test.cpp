// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/engines/delivery_cost.h"

#include <gtest/gtest.h>

namespace jprof::agent::engines {
namespace {

TEST(DeliveryCost, IsNothingBeforeItIsKnown) {
  DeliveryCost cost;
  EXPECT_EQ(cost.median_ns(), 0U);
  EXPECT_TRUE(cost.wants_more());
  cost.add(0);
  EXPECT_EQ(cost.median_ns(), 0U);
}

TEST(DeliveryCost, IsTheMedianAndTheLowerOfTwo) {
  DeliveryCost cost;
  cost.add(90);
  EXPECT_EQ(cost.median_ns(), 90U);
  cost.add(17);
  EXPECT_EQ(cost.median_ns(), 17U);
  cost.add(19);
  EXPECT_EQ(cost.median_ns(), 19U);
  EXPECT_FALSE(cost.wants_more());
}

TEST(DeliveryCost, PassesOverWhatFailed) {
  DeliveryCost cost;
  cost.add(18);
  cost.add(0);
  EXPECT_EQ(cost.median_ns(), 18U);
  cost.add(90);
  EXPECT_EQ(cost.median_ns(), 18U);
  // A measurement costs CPU time: failures are not repeated for ever.
  EXPECT_FALSE(cost.wants_more());
}

} // namespace
} // namespace jprof::agent::engines
