// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/base/output_place.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace jprof::base {
namespace {

bool is_link(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

std::string text_of(const std::string& path) {
  return read_file(path, 100).value_or("unreadable");
}

TEST(OutputPlace, ReplacesWhatALinkLeadsToAndKeepsTheLink) {
  const testing::TempDir folder;
  const std::string file = folder.path() + "/file";
  const std::string link = folder.path() + "/link";
  ASSERT_TRUE(write_output(file, "old", 0600));
  ASSERT_EQ(::symlink("file", link.c_str()), 0);

  ASSERT_TRUE(write_output(link, "new", 0600));

  EXPECT_TRUE(is_link(link));
  EXPECT_EQ(text_of(file), "new");
}

TEST(OutputPlace, WritesIntoAPipeAndLeavesIt) {
  const testing::TempDir folder;
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = text_of(pipe); });

  EXPECT_TRUE(write_output(pipe, "text", 0600));
  reader.join();

  EXPECT_EQ(read, "text");
  EXPECT_TRUE(output_place(pipe)->stream);
  EXPECT_TRUE(write_output("/dev/null", "text", 0600));
}

TEST(OutputPlace, RefusesFoldersAndLinksThatLeadNowhere) {
  const testing::TempDir folder;
  const std::string link = folder.path() + "/link";
  ASSERT_EQ(::symlink("nothing", link.c_str()), 0);

  for (const std::string& path : {folder.path(), link}) {
    const auto place = output_place(path);
    ASSERT_FALSE(place);
    EXPECT_EQ(place.error().code, ErrorCode::kUsage);
    EXPECT_FALSE(place.error().cure.empty());
  }
  EXPECT_FALSE(output_place(folder.path() + "/new")->stream);
}

TEST(OutputPlace, FollowsNobodyElsesLink) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root, to give the link to somebody else";
  }
  const testing::TempDir folder;
  const std::string file = folder.path() + "/file";
  const std::string link = folder.path() + "/link";
  ASSERT_TRUE(write_output(file, "old", 0600));
  ASSERT_EQ(::symlink("file", link.c_str()), 0);
  ASSERT_EQ(::lchown(link.c_str(), 64123, 64123), 0);

  EXPECT_FALSE(write_output(link, "new", 0600));
  EXPECT_EQ(text_of(file), "old");
}

} // namespace
} // namespace jprof::base
