// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/pending_file.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace jprof::plugin {
namespace {

std::size_t count_files(const std::string& directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) {
    ++count;
  }
  return count;
}

TEST(PendingFile, ShowsNothingBeforeItIsWhole) {
  const testing::TempDir dir;
  const std::string path = dir.path() + "/x.html";
  {
    auto file = PendingFile::create(path);
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE(file->append("half").has_value());
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(count_files(dir.path()), 0U); // dropped, it leaves nothing
}

TEST(PendingFile, AppearsUnderItsNameAtOnce) {
  const testing::TempDir dir;
  const std::string path = dir.path() + "/x.html";
  auto file = PendingFile::create(path);
  ASSERT_TRUE(file->append("hello world").has_value());
  ASSERT_TRUE(file->truncate(5).has_value());
  ASSERT_TRUE(file->append("!").has_value());

  EXPECT_EQ(*file->commit(base::Replace::kAllow), path);

  EXPECT_EQ(*base::read_file(path, 100), "hello!");
  EXPECT_EQ(count_files(dir.path()), 1U);
}

TEST(PendingFile, TakesTheNextFreeNameRatherThanReplace) {
  const testing::TempDir dir;
  const std::string path = dir.path() + "/a.b.html";
  for (int i = 0; i < 3; ++i) {
    auto file = PendingFile::create(path);
    ASSERT_TRUE(file->commit(base::Replace::kRefuse).has_value());
  }
  EXPECT_TRUE(std::filesystem::exists(dir.path() + "/a.b.html"));
  EXPECT_TRUE(std::filesystem::exists(dir.path() + "/a.b-2.html"));
  EXPECT_TRUE(std::filesystem::exists(dir.path() + "/a.b-3.html"));
  EXPECT_EQ(count_files(dir.path()), 3U);
}

TEST(PendingFile, ReplacesWhereTheUserNamedTheFile) {
  const testing::TempDir dir;
  const std::string path = dir.path() + "/x";
  ASSERT_TRUE(base::write_file_atomically(path, "old", 0600).has_value());
  auto file = PendingFile::create(path);
  ASSERT_TRUE(file->append("new").has_value());

  ASSERT_TRUE(file->commit(base::Replace::kAllow).has_value());

  EXPECT_EQ(*base::read_file(path, 100), "new");
}

TEST(PendingFile, MovesWithItsContent) {
  const testing::TempDir dir;
  std::vector<PendingFile> files;
  for (int i = 0; i < 5; ++i) {
    auto file = PendingFile::create(dir.path() + "/" + std::to_string(i));
    ASSERT_TRUE(file->append(std::to_string(i)).has_value());
    files.push_back(std::move(*file));
  }
  files.erase(files.begin());
  for (PendingFile& file : files) {
    ASSERT_TRUE(file.commit(base::Replace::kRefuse).has_value());
  }
  EXPECT_EQ(count_files(dir.path()), 4U);
  EXPECT_EQ(*base::read_file(dir.path() + "/3", 10), "3");
}

} // namespace
} // namespace jprof::plugin
