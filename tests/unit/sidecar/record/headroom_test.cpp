// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/headroom.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>

namespace jprof::record {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;
constexpr std::uint64_t kNone = 0;

// The JVM's container and ours, as a sidecar sees them: neither sees the pod.
class HeadroomTest : public ::testing::Test {
 protected:
  std::vector<container::MemoryGroup> group(const std::string& name, std::uint64_t limit,
                                            std::uint64_t used) const {
    const std::string folder = directory_.path() + '/' + name;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/memory.max")
        << (limit == kNone ? "max" : std::to_string(limit * kMiB));
    std::ofstream(folder + "/memory.current") << used * kMiB;
    const base::UniqueFd fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    std::vector<container::MemoryGroup> out;
    out.push_back(*container::MemoryGroup::open(fd.get(), "/" + name));
    return out;
  }
  Surroundings around(std::uint64_t pod, std::uint64_t node = 8192,
                      std::uint64_t reserve = 0) const {
    const std::string meminfo = directory_.path() + "/meminfo";
    std::ofstream(meminfo) << "MemAvailable: " << node * 1024 << " kB\n";
    return {pod * kMiB, reserve * kMiB, meminfo};
  }

 private:
  testing::TempDir directory_;
};

const MemoryNeed kNeed{16 * kMiB, 8 * kMiB, 4 * kMiB};

TEST_F(HeadroomTest, RefusesWhatTheJvmsContainerHasNoRoomFor) {
  const Headroom headroom(group("ours", kNone, 2), group("app", 33, 30), around(0));
  const base::Status status = headroom.check(kNeed);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::ErrorCode::kLimit);
  EXPECT_EQ(status.error().message,
            "the JVM's container uses 30 MiB of its limit of 33 MiB, and a capture needs up to 4 "
            "MiB there: the kernel would end the JVM to make room");
  EXPECT_EQ(status.error().cure, "raise the memory limit by 1 MiB; --force captures anyway, and "
                                 "the kernel may then kill the JVM");
}

TEST_F(HeadroomTest, CountsBothContainersAgainstThePod) {
  const auto look = [this](std::uint64_t pod) {
    return Headroom(group("ours", kNone, 2), group("app", kNone, 60), around(pod)).check(kNeed);
  };
  EXPECT_TRUE(look(0)); // not known
  EXPECT_TRUE(look(82));
  const base::Status status = look(81);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("the pod uses 62 MiB of its limit of 81 MiB"),
            std::string::npos)
      << status.error().message;
}

TEST_F(HeadroomTest, LetsOursBeSmallerThanItCouldBe) {
  EXPECT_TRUE(Headroom(group("ours", 10, 2), group("app", kNone, 60), around(0)).check(kNeed));
  const base::Status status =
      Headroom(group("ours", 9, 2), group("app", kNone, 60), around(0)).check(kNeed);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("the kernel would end it"), std::string::npos);
}

TEST_F(HeadroomTest, LeavesTheNodeWhatTheKubeletWantsLeft) {
  const auto look = [this](std::uint64_t node, std::uint64_t reserve) {
    return Headroom(group("ours", kNone, 2), group("app", kNone, 60), around(0, node, reserve))
        .check(kNeed);
  };
  EXPECT_TRUE(look(20, 0));
  EXPECT_TRUE(look(120, 100));
  const base::Status status = look(119, 100);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("the node has 119 MiB left"), std::string::npos);
  EXPECT_NE(status.error().cure.find("on the node"), std::string::npos);
}

TEST_F(HeadroomTest, BoundsWhatWeTakeByTheTightestPlaceOfOurs) {
  EXPECT_EQ(Headroom(group("ours", 64, 2), group("app", 70, 60), around(90)).for_us(), 24 * kMiB);
  EXPECT_EQ(Headroom(group("ours", 20, 2), group("app", 70, 60), around(90)).for_us(), 18 * kMiB);
}

TEST_F(HeadroomTest, IsShortOnlyWhereWhatWeHoldIsMissedByTheJvm) {
  EXPECT_EQ(Headroom(group("ours", 3, 2), group("app", 61, 60), around(0)).shortage(), "");
  EXPECT_EQ(Headroom(group("ours", kNone, 2), group("app", kNone, 60), around(66)).shortage(), "");
  EXPECT_NE(Headroom(group("ours", kNone, 2), group("app", kNone, 60), around(65)).shortage(), "");
  // One group that holds us both: jprof in the JVM's own container.
  auto both = group("one", 63, 60);
  EXPECT_NE(Headroom(group("one", 63, 60), std::move(both), around(0)).shortage(), "");
}

TEST_F(HeadroomTest, SaysWhatCannotBeRead) {
  Surroundings blind = around(0, 8192, 100);
  blind.meminfo = "/nowhere";
  const std::string text = Headroom({}, {}, blind).text();
  for (const char* words : {"the memory limit and use of the JVM's container cannot be read",
                            "jprof's own container", "the pod's own limit", "the node"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << ": " << text;
  }
  EXPECT_TRUE(Headroom({}, {}, blind).check(kNeed));
}

} // namespace
} // namespace jprof::record
