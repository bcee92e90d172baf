// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/places.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <linux/magic.h>
#include <sys/vfs.h>

namespace jprof::serve {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

bool in_memory(const std::string& directory) {
  struct statfs disk {};
  return ::statfs(directory.c_str(), &disk) == 0 && disk.f_type == TMPFS_MAGIC;
}

class SpoolInMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!in_memory("/dev/shm")) {
      GTEST_SKIP() << "nothing in memory is mounted at /dev/shm";
    }
    config_.spool.directory = "/dev/shm";
  }
  config::SidecarConfig config_;
};

TEST_F(SpoolInMemory, TakesAQuarterOfTheContainersLimit) {
  EXPECT_EQ(bound_spool_in_memory(config_, 128 * kMiB), 32 * kMiB);
  EXPECT_EQ(config_.spool.quota, 32 * kMiB);
  EXPECT_EQ(config_.limits.capture_bytes, 16 * kMiB);
}

TEST_F(SpoolInMemory, KeepsASmallerQuota) {
  config_.spool.quota = config_.limits.capture_bytes = 10 * kMiB;
  EXPECT_EQ(bound_spool_in_memory(config_, 128 * kMiB), 10 * kMiB);
  EXPECT_EQ(config_.spool.quota, 10 * kMiB);
  EXPECT_EQ(config_.limits.capture_bytes, 10 * kMiB);
}

TEST_F(SpoolInMemory, IsAsLargeAsConfiguredWithoutALimit) {
  EXPECT_EQ(bound_spool_in_memory(config_, 0), 0U);
  EXPECT_EQ(config_.spool.quota, config::SpoolSettings{}.quota);
}

TEST(SpoolOnADisk, IsLeftAsItIs) {
  const testing::TempDir directory;
  if (in_memory(directory.path())) {
    GTEST_SKIP() << "temporary files lie in memory here";
  }
  config::SidecarConfig config;
  config.spool.directory = directory.path();
  EXPECT_EQ(bound_spool_in_memory(config, 128 * kMiB), 0U);
  EXPECT_EQ(config.spool.quota, config::SpoolSettings{}.quota);
  EXPECT_EQ(config.limits.capture_bytes, config::SidecarLimits{}.capture_bytes);
}

} // namespace
} // namespace jprof::serve
