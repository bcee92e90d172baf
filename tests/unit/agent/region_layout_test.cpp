// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/recording/region_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace jprof::agent::recording {
namespace {

class RegionLayout : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RegionLayout, DividesTheRegionWithoutOverlap) {
  std::vector<std::uint64_t> region(GetParam() / 8);
  auto sampler = std::make_unique<sampling::Sampler>();
  PrivateTables tables;

  ASSERT_TRUE(lay_out(region.data(), GetParam(), 20, sampler.get(), &tables));

  const auto* header = reinterpret_cast<const wire::RegionHeader*>(region.data());
  std::vector<wire::Section> sections(header->sections, header->sections + header->section_count);
  std::sort(sections.begin(), sections.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  std::uint64_t end = wire::kRegionHeaderBytes;
  for (const wire::Section& section : sections) {
    EXPECT_GE(section.offset, end);
    EXPECT_EQ(section.offset % 8, 0U);
    end = section.offset + section.bytes;
  }
  EXPECT_LE(end, GetParam());
  EXPECT_GE(sampler->generations[1].stacks.arena.bytes, GetParam() / 16);
  EXPECT_EQ(sampler->ring_capacity & (sampler->ring_capacity - 1), 0U);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RegionLayout,
                         ::testing::Values(kMinRegionBytes, 1U << 20, 3U << 20, 16U << 20,
                                           64U << 20));

// A slot for each thread that there is and for those that begin, whatever the region's size.
TEST(RegionLayoutThreads, HaveSlotsByNeed) {
  constexpr std::uint64_t kBytes = 16U << 20;
  std::vector<std::uint64_t> region(kBytes / 8);
  auto sampler = std::make_unique<sampling::Sampler>();
  PrivateTables tables;
  ASSERT_TRUE(lay_out(region.data(), kBytes, 20, sampler.get(), &tables));
  const std::uint32_t few = sampler->thread_capacity;
  std::fill(region.begin(), region.end(), 0);

  ASSERT_TRUE(lay_out(region.data(), kBytes, 10'000, sampler.get(), &tables));

  EXPECT_GE(few, 1000U);
  EXPECT_GE(sampler->thread_capacity, 12'000U);
  EXPECT_GE(sampler->generations[0].stacks.arena.bytes, kBytes / 8);
}

TEST(RegionLayoutLimits, RefuseOtherSizes) {
  std::vector<std::uint64_t> region(kMinRegionBytes / 8);
  auto sampler = std::make_unique<sampling::Sampler>();
  PrivateTables tables;

  EXPECT_FALSE(lay_out(region.data(), kMinRegionBytes - 4096, 20, sampler.get(), &tables));
  EXPECT_FALSE(lay_out(region.data(), kMaxRegionBytes + 4096, 20, sampler.get(), &tables));
}

TEST(Generation, IsEmptyAfterAReset) {
  std::vector<std::uint64_t> region(kMinRegionBytes / 8);
  auto sampler = std::make_unique<sampling::Sampler>();
  PrivateTables tables;
  ASSERT_TRUE(lay_out(region.data(), kMinRegionBytes, 20, sampler.get(), &tables));
  auto& generation = sampler->generations[0];
  reset_generation(generation, 1);
  const wire::Frame frames[] = {1, 2};
  const std::uint32_t before = generation.stacks.put(frames, 2, 0);

  reset_generation(generation, 2);

  EXPECT_EQ(generation.info->number, 2U);
  EXPECT_EQ(generation.info->stacks_committed_bytes, 8U);
  EXPECT_EQ(generation.stacks.arena.record_at<wire::StackRecord>(before)->ready, 0U);
  EXPECT_NE(generation.stacks.put(frames, 2, 0), 0U);
}

} // namespace
} // namespace jprof::agent::recording
