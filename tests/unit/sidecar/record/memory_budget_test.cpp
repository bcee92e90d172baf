// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profile.h"
#include "sidecar/record/memory_budget.h"
#include "sidecar/record/region_memory.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace jprof::record {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;

class FreeMemory : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_.path() + '/' + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::optional<std::uint64_t> free() const {
    return free_memory(directory_.path() + "/cgroup", directory_.path() + "/self");
  }

 private:
  testing::TempDir directory_;
};

TEST_F(FreeMemory, IsNotKnownWithoutALimit) {
  EXPECT_FALSE(free());
  write("cgroup/memory.max", "max\n");
  write("cgroup/memory.current", "4096\n");
  EXPECT_FALSE(free());
}

TEST_F(FreeMemory, CountsReclaimableFilesAsFreeInVersionTwo) {
  write("cgroup/memory.max", "67108864\n");
  write("cgroup/memory.current", "41943040\n");
  write("cgroup/memory.stat", "anon 1\ninactive_file 10485760\nactive_file 5\n");

  EXPECT_EQ(free(), 34 * kMiB + 5);
}

TEST_F(FreeMemory, ReadsVersionOne) {
  write("self", "4:memory:/docker/abc\n0::/\n");
  write("cgroup/memory/docker/abc/memory.limit_in_bytes", "33554432\n");
  write("cgroup/memory/docker/abc/memory.usage_in_bytes", "16777216\n");
  write("cgroup/memory/docker/abc/memory.stat", "inactive_file 7\ntotal_inactive_file 1048576\n");
  write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("cgroup/memory/memory.usage_in_bytes", "999\n");

  EXPECT_EQ(free(), 17 * kMiB);
}

TEST_F(FreeMemory, IsZeroOverTheLimit) {
  write("self", "0::/pod/c\n");
  write("cgroup/pod/c/memory.max", "1000\n");
  write("cgroup/pod/c/memory.current", "2000\n");

  EXPECT_EQ(free(), 0U);
}

TEST(MemoryBudget, ShrinksWithWhatIsFree) {
  EXPECT_EQ(memory_budget(std::nullopt).region_bytes, kDefaultRegionBytes);
  EXPECT_EQ(memory_budget(1024 * kMiB).region_bytes, kDefaultRegionBytes);
  EXPECT_EQ(memory_budget(32 * kMiB).region_bytes, 8 * kMiB);
  EXPECT_EQ(memory_budget(0).region_bytes, kMinRegionBytes);
  EXPECT_EQ(memory_budget(48 * kMiB).timed_samples, 12 * kMiB / sizeof(profile::Sample));
  EXPECT_LT(memory_budget(32 * kMiB).dictionary_bytes, memory_budget({}).dictionary_bytes);
}

TEST(RegionBytes, FollowRateAndThreads) {
  using std::chrono::milliseconds;
  const std::uint64_t least = kDefaultRegionBytes / 4;
  EXPECT_EQ(region_bytes_for({milliseconds(10), 2, 20}), least);
  EXPECT_EQ(region_bytes_for({milliseconds(1), 2, 20}), kDefaultRegionBytes);
  EXPECT_EQ(region_bytes_for({milliseconds(10), 64, 20}), kDefaultRegionBytes);
  EXPECT_GT(region_bytes_for({milliseconds(10), 2, 500}), least);
  EXPECT_EQ(region_bytes_for({milliseconds(10), 2, UINT64_MAX}), kDefaultRegionBytes);
  EXPECT_EQ(region_bytes_for({milliseconds(0), 2, 20}), kDefaultRegionBytes);
}

} // namespace
} // namespace jprof::record
