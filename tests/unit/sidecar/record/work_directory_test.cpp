// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/work_directory.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace jprof::record {
namespace {

class WorkDirectoryTest : public ::testing::Test {
 protected:
  static void write(const std::string& path) { std::ofstream(path) << "bytes"; }

  std::string new_name() const { return *WorkDirectory::name_in(folder_.path()); }

  testing::TempDir folder_;
};

TEST_F(WorkDirectoryTest, IsGoneAfterwardsUnlessItIsKept) {
  const std::string gone = new_name();
  const std::string kept = new_name();
  {
    const auto first = WorkDirectory::make(gone);
    auto second = WorkDirectory::make(kept);
    ASSERT_TRUE(first && second);
    write(gone + "/profile.jprof");
    write(gone + "/profile.html");
    write(kept + "/profile.jprof");
    second->keep();
  }
  EXPECT_FALSE(std::filesystem::exists(gone));
  EXPECT_TRUE(std::filesystem::exists(kept + "/profile.jprof"));
}

TEST_F(WorkDirectoryTest, NamesAFolderThatIsNotThereAsGiven) {
  const auto made = WorkDirectory::make(*WorkDirectory::name_in("no/such"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(made.error().message, "there is no folder no/such");
}

TEST_F(WorkDirectoryTest, OfAKilledProcessIsFoundAndOfALivingOneIsNot) {
  const std::string killed = new_name();
  const std::string living = new_name();
  const auto held = WorkDirectory::make(living);
  ASSERT_TRUE(held);
  write(living + "/profile.jprof");
  int ready[2] = {-1, -1};
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto made = WorkDirectory::make(killed);
    write(killed + "/profile.jprof");
    EXPECT_EQ(::write(ready[1], "x", 1), 1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(abandoned_recordings(folder_.path()), std::vector<std::string>());

  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);

  EXPECT_EQ(abandoned_recordings(folder_.path()),
            std::vector<std::string>{killed + "/profile.jprof"});
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(WorkDirectoryTest, OthersFilesAreNotTakenForRecordings) {
  const std::string at = folder_.path();
  std::filesystem::create_directory(at + "/.jprof-abcdefgh22"); // killed before it wrote anything
  std::filesystem::create_directory(at + "/.jprof-ABCDEFGH22");
  write(at + "/.jprof-ABCDEFGH22/profile.jprof");
  std::filesystem::create_directory(at + "/elsewhere");
  write(at + "/elsewhere/profile.jprof");
  std::filesystem::create_directory_symlink(at + "/elsewhere", at + "/.jprof-linkedlink");
  std::filesystem::create_directory(at + "/.jprof-linkedfile");
  std::filesystem::create_symlink(at + "/elsewhere/profile.jprof",
                                  at + "/.jprof-linkedfile/profile.jprof");
  EXPECT_EQ(abandoned_recordings(at), std::vector<std::string>());
}

TEST_F(WorkDirectoryTest, TellsOfSomeOfMany) {
  for (char last = 'a'; last <= 'z'; ++last) {
    const std::string path = folder_.path() + "/.jprof-manymanyw" + last;
    std::filesystem::create_directory(path);
    write(path + "/profile.jprof");
  }
  EXPECT_EQ(abandoned_recordings(folder_.path()).size(), 8U);
}

} // namespace
} // namespace jprof::record
