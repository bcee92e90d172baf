// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace jprof::base {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "jprof-file-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
};

TEST_F(FileTest, ReadsBackWhatItWrote) {
  const std::string path = directory_ + "/a";

  ASSERT_TRUE(write_file_atomically(path, "one", 0600));
  ASSERT_TRUE(write_file_atomically(path, "two", 0600));

  EXPECT_EQ(*read_file(path, 3), "two");
}

TEST_F(FileTest, RefusesAFileAboveTheLimit) {
  const std::string path = directory_ + "/a";
  ASSERT_TRUE(write_file_atomically(path, "four", 0600));

  EXPECT_EQ(read_file(path, 3).error().code, ErrorCode::kLimit);
}

TEST_F(FileTest, CreateOnlyWriteLeavesTheExistingFileAlone) {
  const std::string path = directory_ + "/a";
  ASSERT_TRUE(write_file_atomically(path, "one", 0600, Replace::kRefuse));

  EXPECT_EQ(write_file_atomically(path, "two", 0600, Replace::kRefuse).error().code,
            ErrorCode::kAlreadyExists);
  EXPECT_EQ(*read_file(path, 10), "one");
}

TEST_F(FileTest, LeavesNoTemporaryFiles) {
  ASSERT_TRUE(write_file_atomically(directory_ + "/a", "one", 0600));
  ASSERT_FALSE(write_file_atomically(directory_ + "/a", "two", 0600, Replace::kRefuse));

  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(FileTest, MakesMissingDirectories) {
  EXPECT_TRUE(make_directories(directory_ + "/x/y/z", 0700));
  EXPECT_TRUE(make_directories(directory_ + "/x/y/z", 0700));
  ASSERT_TRUE(write_file_atomically(directory_ + "/file", "", 0600));
  EXPECT_FALSE(make_directories(directory_ + "/file/z", 0700));
}

} // namespace
} // namespace jprof::base
