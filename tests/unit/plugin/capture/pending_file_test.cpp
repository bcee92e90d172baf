// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/pending_file.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

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

constexpr auto kUnnamed = PendingFile::Growth::kUnnamed;
constexpr auto kHidden = PendingFile::Growth::kHidden;

// Begins a file in a process that is killed before it has an end.
void begin_and_die(const std::string& path, PendingFile::Growth growth) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = PendingFile::create(path, growth);
    if (file && file->append("half")) {
      ::raise(SIGKILL);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

bool has_unnamed_files(const std::string& directory) {
#ifdef O_TMPFILE
  const base::UniqueFd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  return static_cast<bool>(fd);
#else
  static_cast<void>(directory);
  return false;
#endif
}

TEST(PendingFile, LeavesNothingOfAKilledProcess) {
  const testing::TempDir dir;
  if (!has_unnamed_files(dir.path())) {
    GTEST_SKIP() << "this file system has no files without a name";
  }
  begin_and_die(dir.path() + "/x.html", kUnnamed);
  EXPECT_EQ(count_files(dir.path()), 0U);
}

TEST(PendingFile, SweepsWhatAKilledProcessLeftUnderAHiddenName) {
  const testing::TempDir dir;
  const std::string mine = dir.path() + "/.mine.jprof-parts";
  ASSERT_TRUE(base::write_file_atomically(mine, "not ours", 0600).has_value());
  begin_and_die(dir.path() + "/x.html", kHidden);
  ASSERT_EQ(count_files(dir.path()), 2U);
  auto alive = PendingFile::create(dir.path() + "/alive.html", kHidden);
  EXPECT_EQ(count_files(dir.path()), 2U);
  auto another = PendingFile::create(dir.path() + "/another.html", kHidden);

  ASSERT_TRUE(alive->append("whole").has_value());
  ASSERT_TRUE(alive->commit(base::Replace::kRefuse).has_value());

  EXPECT_EQ(*base::read_file(dir.path() + "/alive.html", 10), "whole");
  EXPECT_TRUE(std::filesystem::exists(mine));
}

TEST(PendingFile, DoesTheSameUnderAHiddenName) {
  const testing::TempDir dir;
  const std::string path = dir.path() + "/x.html";
  ASSERT_TRUE(base::write_file_atomically(path, "old", 0600).has_value());
  {
    auto dropped = PendingFile::create(path, kHidden);
    auto second = PendingFile::create(path, kHidden);
    ASSERT_TRUE(second->append("second").has_value());
    EXPECT_EQ(*second->commit(base::Replace::kRefuse), dir.path() + "/x-2.html");
    auto replacing = PendingFile::create(path, kHidden);
    ASSERT_TRUE(replacing->append("new").has_value());
    EXPECT_EQ(*replacing->commit(base::Replace::kAllow), path);
  }
  EXPECT_EQ(*base::read_file(path, 10), "new");
  EXPECT_EQ(count_files(dir.path()), 2U);
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

TEST(PendingFile, KeepsTheNameThatItHas) {
  for (const auto growth : {PendingFile::Growth::kUnnamed, PendingFile::Growth::kHidden}) {
    const testing::TempDir dir;
    auto file = PendingFile::create(dir.path() + "/x.jprof", growth);
    ASSERT_TRUE(file->append("content").has_value());
    const auto first = file->commit(base::Replace::kRefuse);
    ASSERT_TRUE(first.has_value());
    PendingFile moved = std::move(*file);

    EXPECT_EQ(moved.commit(base::Replace::kRefuse).value_or(""), *first);
    EXPECT_EQ(moved.commit(base::Replace::kAllow).value_or(""), *first);

    EXPECT_EQ(count_files(dir.path()), 1U);
  }
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
