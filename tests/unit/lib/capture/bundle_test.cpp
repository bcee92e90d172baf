// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/base/file.h"
#include "lib/capture/bundle.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace jprof::capture {
namespace {

class BundleTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "jprof-bundle-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    ASSERT_TRUE(base::write_file_atomically(directory_ + "/profile.jprof", "recording", 0600));
    manifest_.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    manifest_.request_time = "2026-11-21T07:08:09Z";
    manifest_.files = {{"profile.jprof", "jprof", 9, base::sha256_hex("recording")}};
    ASSERT_TRUE(commit_bundle(directory_, manifest_));
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string recording() const { return directory_ + "/profile.jprof"; }

  std::string directory_;
  Manifest manifest_;
};

TEST_F(BundleTest, ProvesWhatWasCommitted) {
  const auto got = verify_bundle(directory_);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->id, manifest_.id);
}

TEST_F(BundleTest, FindsAFlippedBit) {
  ASSERT_TRUE(base::write_file_atomically(recording(), "recordinf", 0600));
  EXPECT_EQ(verify_bundle(directory_).error().code, base::ErrorCode::kInvalidData);
}

TEST_F(BundleTest, FindsAMissingShortOrLongFile) {
  ASSERT_TRUE(base::write_file_atomically(recording(), "record", 0600));
  EXPECT_EQ(verify_bundle(directory_).error().code, base::ErrorCode::kInvalidData);
  ASSERT_TRUE(base::write_file_atomically(recording(), "recording!", 0600));
  EXPECT_EQ(verify_bundle(directory_).error().code, base::ErrorCode::kInvalidData);
  ASSERT_EQ(::unlink(recording().c_str()), 0);
  EXPECT_EQ(verify_bundle(directory_).error().code, base::ErrorCode::kInvalidData);
}

TEST_F(BundleTest, IsNotHeldUpByAFifoNorLedAwayByALink) {
  ASSERT_EQ(::unlink(recording().c_str()), 0);
  ASSERT_EQ(::mkfifo(recording().c_str(), 0600), 0);
  EXPECT_FALSE(verify_bundle(directory_));
  ASSERT_EQ(::unlink(recording().c_str()), 0);
  ASSERT_TRUE(base::write_file_atomically(directory_ + "/other", "recording", 0600));
  ASSERT_EQ(::symlink("other", recording().c_str()), 0);
  EXPECT_FALSE(verify_bundle(directory_));
}

TEST_F(BundleTest, IsNotCommittedWithoutItsFiles) {
  const std::string empty = directory_ + "/empty";
  ASSERT_TRUE(base::make_directories(empty, 0700));

  EXPECT_FALSE(commit_bundle(empty, manifest_));
  EXPECT_FALSE(std::filesystem::exists(empty + "/manifest.json"));
}

} // namespace
} // namespace jprof::capture
