// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/frame_rule.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace jprof::agent::sampling {
namespace {

FrameRule rule_for(std::uint64_t pc) {
  return {.base = pc % 3 == 0 ? FrameBase::kFramePointer : FrameBase::kStackPointer,
          .return_address = SavedIn::kFrame,
          .frame_pointer = pc % 2 == 0 ? SavedIn::kFrame : SavedIn::kRegister,
          .base_offset = static_cast<std::int64_t>(pc % 100'000),
          .return_address_offset = -8,
          .frame_pointer_offset = -static_cast<std::int64_t>(pc % 500) * 8};
}

bool equal(const FrameRule& a, const FrameRule& b) {
  return a.base == b.base && a.return_address == b.return_address &&
         a.frame_pointer == b.frame_pointer && a.base_offset == b.base_offset &&
         a.return_address_offset == b.return_address_offset &&
         a.frame_pointer_offset == b.frame_pointer_offset;
}

class FrameRules : public ::testing::Test {
 protected:
  bool kept(const FrameRule& rule) {
    cache_->clear();
    cache_->put(1, rule);
    FrameRule found;
    return cache_->find(1, &found) && equal(found, rule);
  }

  std::unique_ptr<FrameRuleCache> cache_ = std::make_unique<FrameRuleCache>();
};

TEST_F(FrameRules, AreFoundAsTheyWerePut) {
  EXPECT_TRUE(kept(FrameRule{}));
  EXPECT_TRUE(kept({.return_address = SavedIn::kNowhere}));
  EXPECT_TRUE(kept({FrameBase::kLinkage, SavedIn::kFrame, SavedIn::kRegister, 11, -8, 0}));
  EXPECT_TRUE(
      kept({FrameBase::kFramePointer, SavedIn::kFrame, SavedIn::kFrame, 16, 16376, -16384}));
  EXPECT_TRUE(
      kept({FrameBase::kStackPointer, SavedIn::kFrame, SavedIn::kFrame, -2147483648, 0, 8}));
}

TEST_F(FrameRules, AreNotKeptWhereTheyDoNotFit) {
  EXPECT_FALSE(kept({.base_offset = std::int64_t{1} << 31}));
  EXPECT_FALSE(kept({.return_address_offset = 16384}));
  EXPECT_FALSE(kept({.return_address_offset = -4}));
  EXPECT_FALSE(kept({.frame_pointer_offset = -16392}));
}

TEST_F(FrameRules, OfOnePcAreNotThoseOfAnother) {
  FrameRule found;
  EXPECT_FALSE(cache_->find(0, &found));
  for (std::uint64_t pc = 0x7f0000000000; pc < 0x7f0000004000; ++pc) {
    cache_->put(pc, rule_for(pc));
  }
  unsigned known = 0;
  for (std::uint64_t pc = 0x7f0000000000; pc < 0x7f0000008000; ++pc) {
    if (cache_->find(pc, &found)) {
      ++known;
      ASSERT_TRUE(equal(found, rule_for(pc))) << pc;
    }
  }
  EXPECT_GT(known, 500U);
}

TEST_F(FrameRules, AreGoneWhenCleared) {
  FrameRule found;
  cache_->put(42, rule_for(42));
  cache_->clear();
  EXPECT_FALSE(cache_->find(42, &found));
}

// Halves of two entries, written at the same place at once, are taken for none.
TEST_F(FrameRules, AreWholeWithManyWriters) {
  std::vector<std::thread> threads;
  std::atomic<unsigned> wrong{0};
  for (std::uint64_t start = 0; start < 4; ++start) {
    threads.emplace_back([this, start, &wrong] {
      FrameRule found;
      for (std::uint64_t i = 0; i < 200'000; ++i) {
        const std::uint64_t pc = 0x5600'0000'0000 + (i * 7 + start * 1000) % 8000;
        if (cache_->find(pc, &found) && !equal(found, rule_for(pc))) {
          ++wrong;
        }
        cache_->put(pc, rule_for(pc));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0U);
}

} // namespace
} // namespace jprof::agent::sampling
