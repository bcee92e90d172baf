// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/memory_group.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace jprof::container {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;

class MemoryGroupTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_.path() + '/' + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::string mount() const { return directory_.path() + "/cgroup"; }
  std::vector<MemoryGroup> own() const {
    return own_memory_groups(mount(), directory_.path() + "/self");
  }

 private:
  testing::TempDir directory_;
};

TEST_F(MemoryGroupTest, CountsFilesThatNobodyHasMappedAsFree) {
  write("cgroup/memory.max", "max\n");
  write("cgroup/memory.current", std::to_string(40 * kMiB));
  // 20 MiB of files, of which 6 are mapped; 4 MiB are memory in files and mapped as well.
  write("cgroup/memory.stat", "anon 16777216\nfile 25165824\nfile_mapped 10485760\nshmem 4194304\n"
                              "inactive_file 8388608\nactive_file 12582912\n");

  const auto groups = own();
  ASSERT_EQ(groups.size(), 1U);
  const auto room = groups[0].room();
  ASSERT_TRUE(room);
  EXPECT_FALSE(room->limit);
  EXPECT_EQ(room->used, 26 * kMiB);
}

TEST_F(MemoryGroupTest, ClimbsToTheGroupsAboveAndReadsThemAnew) {
  write("self", "0::/pod/app\n");
  write("cgroup/pod/memory.max", "50000000\n");
  write("cgroup/pod/memory.current", "40000000\n");
  write("cgroup/pod/app/memory.max", "max\n");
  write("cgroup/pod/app/memory.current", "30000000\n");

  const auto groups = own();
  ASSERT_EQ(groups.size(), 2U); // version 2's root tells nothing
  EXPECT_EQ(groups[0].path(), "/pod/app");
  EXPECT_EQ(groups[1].room()->left(), 10'000'000U);
  write("cgroup/pod/memory.current", "49000000\n");
  EXPECT_EQ(groups[1].room()->left(), 1'000'000U);
}

TEST_F(MemoryGroupTest, KnowsTheLeastLimitAboveByVersionOne) {
  write("self", "7:cpu:/x\n4:memory,hugetlb:/kubepods/pod1/c1\n0::/\n");
  // The mount of a container shows its own group alone.
  write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("cgroup/memory/memory.usage_in_bytes", "8000000\n");
  write("cgroup/memory/memory.stat", "hierarchical_memory_limit 64000000\n");

  const auto groups = own();
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].path(), "/kubepods/pod1/c1");
  EXPECT_TRUE(groups[0].room()->limit_is_inherited);
  EXPECT_EQ(groups[0].room()->limit, 64'000'000U);
}

TEST_F(MemoryGroupTest, CountsWhatTheKernelEndedThere) {
  write("self", "4:memory:/jvm\n0::/jvm\n");
  write("cgroup/jvm/memory.current", "1\n");
  write("cgroup/jvm/memory.events", "low 0\nhigh 0\nmax 9\noom 4\noom_kill 2\noom_group_kill 0\n");
  write("cgroup/memory/jvm/memory.usage_in_bytes", "1\n");
  write("cgroup/memory/jvm/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");

  const auto groups = own();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].oom_kills(), 5U);
  EXPECT_EQ(groups[1].oom_kills(), 2U);
  write("cgroup/jvm/memory.events", "oom_kill 3\n");
  EXPECT_EQ(groups[1].oom_kills(), 3U);
  std::filesystem::resize_file(mount() + "/jvm/memory.events", 0);
  EXPECT_FALSE(groups[1].oom_kills());
}

// A process of the target's may plant what looks like a cgroup: its root's files are read only
// where they are the kernel's.
TEST_F(MemoryGroupTest, ReadsNothingThatIsNoCgroupInARoot) {
  write("root/sys/fs/cgroup/memory.max", "1\n");
  write("root/sys/fs/cgroup/memory.current", "1\n");
  const auto proc = ProcRoot::open();
  ASSERT_TRUE(proc);
  const auto self = Process::open(*proc, ::getpid());
  ASSERT_TRUE(self);
  const std::string planted = std::filesystem::path(mount()).parent_path() / "root";
  base::UniqueFd fd(::open(planted.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const TargetRoot root = TargetRoot::from(std::move(fd));

  EXPECT_TRUE(memory_groups_of(*self, root, mount() + "/none").empty());
}

TEST_F(MemoryGroupTest, IsNothingWhereNothingIsCounted) {
  EXPECT_TRUE(own().empty());
  EXPECT_FALSE(machine_memory(mount()));
  write("meminfo", "MemTotal:  8 kB\nMemAvailable:    1024 kB\n");
  EXPECT_EQ(machine_memory(std::filesystem::path(mount()).parent_path() / "meminfo"), kMiB);
}

} // namespace
} // namespace jprof::container
