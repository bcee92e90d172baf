// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/directory.h"
#include "lib/base/file.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace jprof::base {
namespace {

TEST(Directory, NamesWhatIsInItInOrder) {
  const testing::TempDir folder;
  for (const char* name : {"b", ".hidden", "a\n"}) {
    ASSERT_TRUE(write_file_atomically(folder.path() + "/" + name, "", 0600));
  }
  ASSERT_EQ(::mkdir((folder.path() + "/c").c_str(), 0700), 0);
  const std::vector<std::string> all = {".hidden", "a\n", "b", "c"};

  EXPECT_EQ(names_in(folder.path()).value(), all);
  EXPECT_EQ(names_in(folder.path(), 2).value().size(), 2U);
  const UniqueFd held(::open(folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(names_in(held.get()).value(), all);
  EXPECT_EQ(names_in(held.get()).value(), all) << "the descriptor was moved";
}

TEST(Directory, SaysWhyItCannotBeListed) {
  const testing::TempDir folder;
  ASSERT_TRUE(write_file_atomically(folder.path() + "/file", "", 0600));

  EXPECT_EQ(names_in(folder.path() + "/none").error().os_errno, ENOENT);
  EXPECT_EQ(names_in(folder.path() + "/file").error().os_errno, ENOTDIR);
  EXPECT_EQ(names_in(-1).error().os_errno, EBADF);
}

TEST(DirectoryOf, IsWhatAFileIsIn) {
  EXPECT_EQ(directory_of("a"), ".");
  EXPECT_EQ(directory_of("/a"), "/");
  EXPECT_EQ(directory_of("a/b"), "a");
  EXPECT_EQ(directory_of("/a/b"), "/a");
}

} // namespace
} // namespace jprof::base
