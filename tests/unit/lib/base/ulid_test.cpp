// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/ulid.h"

#include <gtest/gtest.h>

namespace jprof::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// The specification's example: 1469918176385 ms is 01ARYZ6S41.
TEST(Ulid, BeginsWithTheTime) {
  const std::string id = *make_ulid(system_clock::time_point(milliseconds(1469918176385)));

  EXPECT_EQ(id.substr(0, 10), "01ARYZ6S41");
  EXPECT_TRUE(is_ulid(id));
}

TEST(Ulid, DiffersEachTime) {
  const auto now = system_clock::time_point(milliseconds(1));
  EXPECT_NE(*make_ulid(now), *make_ulid(now));
}

TEST(Ulid, IsToldFromOtherText) {
  EXPECT_FALSE(is_ulid(""));
  EXPECT_FALSE(is_ulid("81ARYZ6S410000000000000000"));
  EXPECT_FALSE(is_ulid("01ARYZ6S41000000000000000/"));
}

} // namespace
} // namespace jprof::base
