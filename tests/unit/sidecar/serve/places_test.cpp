// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/places.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

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

mode_t mode_of(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
}

TEST(ClaimedDirectory, IsOurs) {
  const testing::TempDir directory;
  const std::string path = directory.path() + "/jprof";

  ASSERT_TRUE(claim_directory(path));
  EXPECT_EQ(mode_of(path), 0700U);
  ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
  ASSERT_TRUE(claim_directory(path)); // as a serve before us left it, but for the mode

  EXPECT_EQ(mode_of(path), 0700U);
}

TEST(ClaimedDirectory, IsNobodyElses) {
  const testing::TempDir directory;
  const std::string path = directory.path() + "/jprof";
  ASSERT_EQ(::symlink("/", path.c_str()), 0);
  EXPECT_EQ(claim_directory(path).error().code, base::ErrorCode::kPermission);
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can make a directory of somebody else";
  }
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  ASSERT_EQ(::chown(path.c_str(), 64123, 64123), 0);

  const base::Status claimed = claim_directory(path);

  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, base::ErrorCode::kPermission);
  EXPECT_NE(claimed.error().message.find("64123"), std::string::npos);
  EXPECT_FALSE(claimed.error().cure.empty());
}

} // namespace
} // namespace jprof::serve
