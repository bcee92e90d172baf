// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/gap_tracker.h"

#include <gtest/gtest.h>

namespace jprof::record {
namespace {

using namespace std::chrono_literals;

TEST(GapTracker, KnowsBetweenWhichLooksSamplesWereLost) {
  GapTracker book;
  book.note(100ms, 0);
  book.note(200ms, 5);
  book.note(300ms, 5);
  book.note(400ms, 7);

  ASSERT_EQ(book.gaps().size(), 2U);
  EXPECT_EQ(book.gaps()[0].from, 100ms);
  EXPECT_EQ(book.gaps()[0].to, 200ms);
  EXPECT_EQ(book.gaps()[0].samples, 5U);
  EXPECT_EQ(book.gaps()[0].reason, "samples lost");
  EXPECT_EQ(book.gaps()[1].from, 300ms);
  EXPECT_EQ(book.gaps()[1].samples, 2U);
}

TEST(GapTracker, JoinsLossesThatFollowEachOther) {
  GapTracker book;
  book.note(100ms, 1);
  book.note(200ms, 2);
  book.note(300ms, 4);

  ASSERT_EQ(book.gaps().size(), 1U);
  EXPECT_EQ(book.gaps()[0].from, 0ms);
  EXPECT_EQ(book.gaps()[0].to, 300ms);
  EXPECT_EQ(book.gaps()[0].samples, 4U);
}

TEST(GapTracker, HoldsAThousandGapsAndLosesNoCount) {
  GapTracker book;
  std::uint64_t lost = 0;
  for (int i = 1; i <= 4000; ++i) {
    lost += i % 2 == 0 ? 1U : 0U;
    book.note(i * 1ms, lost);
  }

  std::uint64_t sum = 0;
  for (const profile::Gap& gap : book.gaps()) {
    sum += gap.samples;
  }
  EXPECT_EQ(book.gaps().size(), 1000U);
  EXPECT_EQ(sum, lost);
  EXPECT_EQ(book.gaps().back().to, 4000ms);
}

TEST(GapTracker, IgnoresACounterThatFalls) {
  GapTracker book;
  book.note(100ms, 9);
  book.note(200ms, 3);
  book.note(300ms, 3);

  ASSERT_EQ(book.gaps().size(), 1U);
  EXPECT_EQ(book.gaps()[0].samples, 9U);
}

} // namespace
} // namespace jprof::record
