// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/frozen_stack.h"
#include "tests/unit/agent/protected_loads.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace jprof::agent::sampling {
namespace {

using Words = std::array<std::uint64_t, 64>;

std::uint64_t address(const void* at) {
  return reinterpret_cast<std::uint64_t>(at);
}

// A heap with a thread, its continuation and two chunks, where some JVM might have their fields.
class FrozenStacks : public ProtectedLoads {
 protected:
  FrozenStacks() {
    layout_.virtual_thread = 8;
    layout_.continuation = 16;
    layout_.tail = 24;
    layout_.parent = 8;
    layout_.size = 16;
    layout_.sp = 20;
    layout_.bottom = 24;
    layout_.stack = 32;
    layout_.clock = {address(&collections_), address(&collecting_)};
    java_thread_[1] = address(&handle_);
    handle_ = address(thread_.data());
    thread_[2] = address(continuation_.data());
    continuation_[3] = address(inner_.data());
    fill(inner_, outer_.data(), 20, 5, 18);
    fill(outer_, nullptr, 30, 10, 30);
  }

  static void fill(Words& chunk, const void* parent, std::uint32_t size, std::uint32_t sp,
                   std::uint32_t bottom) {
    chunk[1] = address(parent);
    chunk[2] = std::uint64_t{sp} << 32 | size;
    chunk[3] = bottom;
  }
  std::vector<std::uint64_t> places() {
    std::vector<std::uint64_t> out;
    FrozenStack stack;
    last_ = first_frozen(layout_, address(java_thread_.data()),
                         continuation_entry(layout_, address(java_thread_.data())), &stack);
    while (last_ == FrozenSearch::kFound) {
      out.push_back(stack.sp);
      out.push_back(stack.end);
      last_ = next_frozen(layout_, &stack);
    }
    return out;
  }

  FrozenSearch last_ = FrozenSearch::kFound;
  FrozenLayout layout_;
  Words java_thread_{};
  Words thread_{};
  Words continuation_{};
  Words inner_{};
  Words outer_{};
  std::uint64_t handle_ = 0;
  std::uint32_t collections_ = 7;
  std::uint8_t collecting_ = 0;
};

TEST_F(FrozenStacks, GoFromTheInnermostChunkOutwards) {
  EXPECT_EQ(places(),
            (std::vector<std::uint64_t>{address(&inner_[4 + 5]), address(&inner_[4 + 18]),
                                        address(&outer_[4 + 10]), address(&outer_[4 + 30])}));
  EXPECT_EQ(last_, FrozenSearch::kNone);
}

// As JDK 21 has it while the virtual thread asks to be woken up later.
TEST_F(FrozenStacks, AreFoundFromTheStackWhileTheThreadActsAsItsCarrier) {
  const Words entry{0, 0, address(continuation_.data())};
  thread_[2] = 0;
  EXPECT_TRUE(places().empty());
  layout_.entry = 40;
  java_thread_[5] = address(entry.data());
  EXPECT_EQ(places().size(), 4U);
}

TEST_F(FrozenStacks, AreFoundByTheThreadWhereTheStackSaysNothing) {
  const Words entry{};
  layout_.entry = 40;
  java_thread_[5] = address(entry.data());
  EXPECT_EQ(places().size(), 4U);
  java_thread_[5] = address(entry.data()) + 1; // no place of a frame
  EXPECT_EQ(continuation_entry(layout_, address(java_thread_.data())), 0U);
}

TEST_F(FrozenStacks, SkipAnEmptyChunk) {
  fill(inner_, outer_.data(), 20, 18, 18);
  EXPECT_EQ(places(),
            (std::vector<std::uint64_t>{address(&outer_[4 + 10]), address(&outer_[4 + 30])}));
}

TEST_F(FrozenStacks, EndBeforeTheArgumentsOfTheLastFrame) {
  layout_.bottom = -1;
  layout_.argument_words = 24;
  fill(inner_, nullptr, 20, 5, 3);
  EXPECT_EQ(places(),
            (std::vector<std::uint64_t>{address(&inner_[4 + 5]), address(&inner_[4 + 17])}));
}

TEST_F(FrozenStacks, AreNoneWhereNumbersMakeNoSense) {
  fill(inner_, nullptr, 20, 21, 18);
  EXPECT_TRUE(places().empty());
  fill(inner_, nullptr, 20, 5, 21);
  EXPECT_TRUE(places().empty());
  fill(inner_, nullptr, 0xffffffff, 5, 18);
  EXPECT_TRUE(places().empty());
  EXPECT_EQ(last_, FrozenSearch::kUnreadable);
}

TEST_F(FrozenStacks, AreNoneInACircleOfEmptyChunks) {
  fill(inner_, inner_.data(), 20, 18, 18);
  EXPECT_TRUE(places().empty());
}

TEST_F(FrozenStacks, AreNoneWhereNothingCanBeRead) {
  continuation_[3] = 8; // no such page
  EXPECT_TRUE(places().empty());
  java_thread_[1] = 0;
  EXPECT_TRUE(places().empty());
  EXPECT_EQ(last_, FrozenSearch::kUnreadable);
}

TEST_F(FrozenStacks, AreNotBelievedBehindAStaleReference) {
  std::uint64_t bad_mask = 0;
  layout_.references.bad_mask = address(&bad_mask);
  EXPECT_EQ(places().size(), 4U);
  bad_mask = ~std::uint64_t{0};
  EXPECT_TRUE(places().empty());
  EXPECT_EQ(last_, FrozenSearch::kUnreadable);
}

// The last chunk says that there are no more; one that refers to what cannot be believed does not.
TEST_F(FrozenStacks, AreNotAllWhereTheNextReferenceIsStale) {
  const std::uint64_t bad_mask = std::uint64_t{1} << 62;
  layout_.references.bad_mask = address(&bad_mask);
  inner_[1] |= bad_mask;
  EXPECT_EQ(places().size(), 2U);
  EXPECT_EQ(last_, FrozenSearch::kUnreadable);
}

TEST_F(FrozenStacks, AreFollowedToWhereShenandoahHasMovedThem) {
  Words moved = inner_;
  inner_.fill(0);
  inner_[0] = address(moved.data()) | 3;
  EXPECT_TRUE(places().empty());
  layout_.references.forwards = true;
  const auto found = places();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0], address(&moved[4 + 5]));
}

TEST_F(FrozenStacks, HaveAMomentThatACollectionEnds) {
  const FrozenMoment before = frozen_moment(layout_);
  EXPECT_EQ(before, frozen_moment(layout_));
  ++collections_;
  EXPECT_FALSE(before == frozen_moment(layout_));
  collecting_ = 1;
  EXPECT_EQ(frozen_moment(layout_).collections, HeapClock::kCollecting);
}

} // namespace
} // namespace jprof::agent::sampling
