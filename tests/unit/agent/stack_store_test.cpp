// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/stack_store.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace jprof::agent::sampling {
namespace {

struct Memory {
  explicit Memory(std::size_t bytes) : arena(bytes / 8), slots(256) {
    store.arena = {reinterpret_cast<std::uint8_t*>(arena.data()), bytes, &committed};
    store.table = {slots.data(), slots.size() - 1};
  }
  const wire::StackRecord* at(std::uint32_t offset) const {
    return store.arena.record_at<wire::StackRecord>(offset);
  }

  std::uint64_t committed = 8;
  std::vector<std::uint64_t> arena;
  std::vector<std::uint64_t> slots;
  StackStore store;
};

TEST(StackStore, KeepsEqualStacksOnce) {
  Memory memory(4096);
  const wire::Frame first[] = {1, 2, 3};
  const wire::Frame second[] = {1, 2, 4};

  const std::uint32_t a = memory.store.put(first, 3, 0);
  const std::uint32_t b = memory.store.put(second, 3, 0);

  EXPECT_NE(a, 0U);
  EXPECT_NE(a, b);
  EXPECT_EQ(memory.store.put(first, 3, 0), a);
  EXPECT_EQ(memory.at(a)->ready, 1U);
  EXPECT_EQ(memory.at(a)->depth, 3U);
}

TEST(StackStore, TellsDepthAndFlagsApart) {
  Memory memory(4096);
  const wire::Frame frames[] = {1, 2, 3};

  const std::uint32_t whole = memory.store.put(frames, 3, 0);

  EXPECT_NE(memory.store.put(frames, 2, 0), whole);
  EXPECT_NE(memory.store.put(frames, 3, 1), whole);
}

TEST(StackStore, SaysWhenItIsFullAndStillFindsWhatItHas) {
  Memory memory(128);
  const wire::Frame first[] = {1, 2, 3};
  const std::uint32_t a = memory.store.put(first, 3, 0);
  const wire::Frame big[12] = {};

  EXPECT_EQ(memory.store.put(big, 12, 0), 0U);
  EXPECT_EQ(memory.store.put(first, 3, 0), a);
  EXPECT_LE(memory.committed, 128U);
}

TEST(StackStore, KeepsStacksWhenItsTableIsCrowded) {
  Memory memory(1 << 20);
  std::vector<std::uint32_t> offsets;
  for (wire::Frame i = 1; i <= 1000; ++i) { // of 256 slots
    const wire::Frame frames[] = {i, i};
    offsets.push_back(memory.store.put(frames, 2, 0));
  }

  for (std::size_t i = 0; i < offsets.size(); ++i) {
    ASSERT_NE(offsets[i], 0U);
    const auto* frames = reinterpret_cast<const wire::Frame*>(memory.at(offsets[i]) + 1);
    ASSERT_EQ(frames[0], i + 1);
  }
}

// Two threads find the same empty slot and both write a record: one of them takes the slot, the
// other must then find it, and neither may give out a record with other frames.
TEST(StackStore, GivesRightRecordsToThreadsThatRace) {
  Memory memory(4 << 20);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (wire::Frame i = 0; i < 20000; ++i) {
        const wire::Frame frames[] = {i % 97, i % 89};
        const std::uint32_t offset = memory.store.put(frames, 2, 0);
        const auto* stored = reinterpret_cast<const wire::Frame*>(memory.at(offset) + 1);
        wrong += offset == 0 || stored[0] != frames[0] || stored[1] != frames[1] ? 1 : 0;
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }

  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace jprof::agent::sampling
