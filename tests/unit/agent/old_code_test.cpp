// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/old_code.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace jprof::agent::sampling {
namespace {

TEST(OldCode, IsAllUntilItIsKnown) {
  OldCode old;
  EXPECT_TRUE(old.holds(5));
  old.begin();
  old.add(3);
  EXPECT_TRUE(old.holds(5));

  old.publish();
  EXPECT_TRUE(old.holds(3));
  EXPECT_FALSE(old.holds(5));
  EXPECT_FALSE(old.holds(0)) << "no id at all";

  old.begin();
  EXPECT_TRUE(old.holds(5));
  old.publish();
  EXPECT_FALSE(old.holds(3)) << "of a session before";
}

// A method that waited for its compiler has a lower id than others that were there.
TEST(OldCode, IsNotWhatWasQueuedAndCompiledLater) {
  OldCode old;
  old.begin();
  for (const std::uint32_t id : {100'000U, 99'998U, 99'000U}) {
    old.add(id);
  }
  old.publish();
  EXPECT_FALSE(old.holds(99'999));
  EXPECT_FALSE(old.holds(100'001));
  EXPECT_TRUE(old.holds(99'000));
  EXPECT_TRUE(old.holds(100'000 - RecentIds::kSpan)) << "no queue is that long";
}

TEST(RecentIds, AreASetOfTheLatestOnes) {
  std::mt19937 generator(18);
  const auto random = [&](std::uint32_t below) {
    return static_cast<std::uint32_t>(generator() % below);
  };
  RecentIds ids;
  std::set<std::uint32_t> all;
  std::uint32_t base = 1;
  for (int i = 0; i < 20'000; ++i) {
    base += random(1000) == 0 ? 20'000 : random(4);
    const std::uint32_t id = base + random(9000);
    ids.add(id);
    all.insert(id);
    const std::uint32_t asked = base + random(12'000);
    const bool in_span = ids.highest() - asked < RecentIds::kSpan && asked <= ids.highest();
    ASSERT_EQ(ids.has(asked), in_span && all.count(asked) != 0) << asked;
    ASSERT_EQ(ids.highest(), *all.rbegin());
  }
}

} // namespace
} // namespace jprof::agent::sampling
