// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/frame_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace jprof::agent::sampling {
namespace {

constexpr std::uint64_t kCode = 0x7f00'0000'0000;

// Everything in it follows from pc and id, so that a mixture of two can be told.
CachedFrames frames_for(std::uint64_t pc, std::uint32_t id) {
  CachedFrames frames;
  frames.blob = pc - id % 1000 - 8;
  frames.compile_id = id;
  frames.frame_bytes = id * 16;
  frames.count = static_cast<std::uint8_t>(1 + id % CachedFrames::kMaxFrames);
  frames.is_native = id % 2 != 0;
  frames.has_more = id % 3 == 0;
  for (std::uint32_t i = 0; i < frames.count; ++i) {
    frames.frames[i] = pc << 32 | id << 2 | i;
  }
  return frames;
}

bool equal(const CachedFrames& a, const CachedFrames& b) {
  bool same = a.blob == b.blob && a.compile_id == b.compile_id && a.frame_bytes == b.frame_bytes &&
              a.count == b.count && a.is_native == b.is_native && a.has_more == b.has_more;
  for (std::uint32_t i = 0; same && i < a.count; ++i) {
    same = a.frames[i] == b.frames[i];
  }
  return same;
}

class Frames : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kEntries = 256;

  std::vector<FrameCache::Entry> entries_ = std::vector<FrameCache::Entry>(kEntries);
  FrameCache cache_{entries_.data(), kEntries};
  CachedFrames found_;
};

TEST_F(Frames, AreFoundAsTheyWerePut) {
  EXPECT_FALSE(cache_.find(kCode, 0, 1, &found_));
  for (std::uint32_t id = 1; id < 50; ++id) {
    EXPECT_NE(cache_.put(kCode + id, id % FrameCache::kMaxPieces, 1, frames_for(kCode + id, id)),
              FrameCache::Put::kBusy);
    ASSERT_TRUE(cache_.find(kCode + id, id % FrameCache::kMaxPieces, 1, &found_));
    EXPECT_TRUE(equal(found_, frames_for(kCode + id, id)));
  }
}

TEST_F(Frames, AreOfOnePcPieceAndGeneration) {
  cache_.put(kCode, 2, 7, frames_for(kCode, 5));

  EXPECT_FALSE(cache_.find(kCode + 1, 2, 7, &found_));
  EXPECT_FALSE(cache_.find(kCode + 2, 0, 7, &found_)); // the same place in the table
  EXPECT_FALSE(cache_.find(kCode, 1, 7, &found_));
  EXPECT_FALSE(cache_.find(kCode, 2, 6, &found_));
  EXPECT_FALSE(cache_.find(kCode, 2, 8, &found_));
  EXPECT_TRUE(cache_.find(kCode, 2, 7, &found_));
}

TEST_F(Frames, OfAnotherMethodTakeThePlaceOfThoseAtTheSamePc) {
  cache_.put(kCode, 0, 1, frames_for(kCode, 5));
  EXPECT_EQ(cache_.put(kCode, 0, 1, frames_for(kCode, 6)), FrameCache::Put::kAdded);

  ASSERT_TRUE(cache_.find(kCode, 0, 1, &found_));
  EXPECT_TRUE(equal(found_, frames_for(kCode, 6)));
}

TEST_F(Frames, AreGivenUpForOthersAndNeverMixedWithThem) {
  std::uint64_t evicted = 0;
  for (std::uint32_t id = 1; id < 4000; ++id) {
    evicted += cache_.put(kCode + id * 16, 0, 1, frames_for(kCode + id * 16, id)) ==
                       FrameCache::Put::kEvicted
                   ? 1U
                   : 0U;
  }
  std::uint64_t known = 0;
  for (std::uint32_t id = 1; id < 4000; ++id) {
    if (cache_.find(kCode + id * 16, 0, 1, &found_)) {
      ++known;
      ASSERT_TRUE(equal(found_, frames_for(kCode + id * 16, id)));
    }
  }
  EXPECT_GT(evicted, 3000U);
  EXPECT_GT(known, kEntries / 2);
}

TEST_F(Frames, OfAnOlderGenerationAreGivenUpFirst) {
  for (std::uint32_t id = 1; id < 1000; ++id) {
    cache_.put(kCode + id * 16, 0, 1, frames_for(kCode + id * 16, id));
  }

  EXPECT_EQ(cache_.put(kCode, 0, 2, frames_for(kCode, 5)), FrameCache::Put::kAdded);
}

// A handler may be left by siglongjmp() while it writes.
TEST_F(Frames, WhoseWriterHasGoneAreNeitherReadNorWritten) {
  cache_.put(kCode, 0, 1, frames_for(kCode, 5));
  for (FrameCache::Entry& entry : entries_) {
    entry.sequence |= entry.pc == kCode ? 1U : 0U;
  }

  EXPECT_FALSE(cache_.find(kCode, 0, 1, &found_));
  EXPECT_EQ(cache_.put(kCode, 0, 1, frames_for(kCode, 6)), FrameCache::Put::kBusy);
  EXPECT_FALSE(cache_.find(kCode, 0, 1, &found_));
}

// Few entries, many threads that write them all the time: what is read must have been written by
// one.
TEST_F(Frames, AreNeverTornBetweenThreads) {
  constexpr int kWriters = 3;
  constexpr std::uint32_t kPcs = 4;
  constexpr int kReads = 500'000;
  std::vector<FrameCache::Entry> few(2);
  const FrameCache cache(few.data(), few.size());
  std::atomic<bool> enough{false};
  std::vector<std::thread> writers;
  for (std::uint32_t writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (std::uint32_t id = writer + 1; !enough.load(); id += kWriters) {
        const std::uint64_t pc = kCode + id % kPcs;
        cache.put(pc, 0, 1, frames_for(pc, id & 0xffffff));
      }
    });
  }
  int known = 0;
  while (known < kReads) {
    for (std::uint64_t pc = kCode; pc < kCode + kPcs; ++pc) {
      CachedFrames found;
      if (cache.find(pc, 0, 1, &found)) {
        ++known;
        EXPECT_TRUE(equal(found, frames_for(pc, found.compile_id)));
      }
    }
  }
  enough.store(true);
  for (std::thread& writer : writers) {
    writer.join();
  }
}

} // namespace
} // namespace jprof::agent::sampling
