// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_writer.h"
#include "sidecar/record/work_directory.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace jprof::record {
namespace {

class WorkDirectoryTest : public ::testing::Test {
 protected:
  static void write(const std::string& path) { std::ofstream(path) << "bytes"; }

  // As if it had not been changed for two minutes.
  static void age(const std::string& path) {
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() -
                                               std::chrono::minutes(2));
  }

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

TEST_F(WorkDirectoryTest, WithoutASampleIsRemovedAfterAMinuteAndNeverTold) {
  const std::string at = folder_.path() + '/';
  std::string opening;
  profile::RecordingWriter writer(
      [&opening](std::string_view bytes) -> base::Status {
        opening += bytes;
        return {};
      },
      {});
  const std::string no_sample = opening;
  ASSERT_TRUE(
      writer.add_sample({.thread = writer.add_thread({}), .stack = writer.intern_stack({})}));
  ASSERT_TRUE(writer.flush());
  const std::string cut_off = opening.substr(0, opening.size() - 1); // in the first such chunk
  const auto leave = [&](const std::string& name, const std::string& bytes, bool old = true) {
    std::filesystem::create_directory(at + name);
    std::ofstream(at + name + "/profile.jprof") << bytes;
    if (old) {
      age(at + name + "/profile.jprof");
      age(at + name);
    }
  };
  leave(".jprof-nosamplexx", no_sample);
  leave(".jprof-cutoffxxxx", cut_off);
  leave(".jprof-emptyxxxxx", "");
  leave(".jprof-freshxxxxx", no_sample, false);
  leave(".jprof-samplesxxx", opening);
  leave(".jprof-damagedxxx", no_sample + std::string(100, 'x'));
  leave(".jprof-besidexxxx", no_sample);
  write(at + ".jprof-besidexxxx/profile.html");
  age(at + ".jprof-besidexxxx");
  leave("jprof-notours", no_sample);
  std::filesystem::create_directory(at + ".jprof-barexxxxxx");
  age(at + ".jprof-barexxxxxx");
  const auto living = WorkDirectory::make(at + ".jprof-livingxxxx");
  ASSERT_TRUE(living);
  std::ofstream(living->path() + "/profile.jprof") << no_sample;
  age(living->path() + "/profile.jprof");
  age(living->path());

  remove_empty_leftovers(folder_.path());

  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    left.insert(entry.path().filename());
  }
  EXPECT_EQ(left,
            (std::set<std::string>{".jprof-freshxxxxx", ".jprof-samplesxxx", ".jprof-damagedxxx",
                                   ".jprof-besidexxxx", "jprof-notours", ".jprof-livingxxxx"}));
  const auto told = abandoned_recordings(folder_.path());
  EXPECT_EQ((std::set<std::string>(told.begin(), told.end())),
            (std::set<std::string>{at + ".jprof-samplesxxx/profile.jprof",
                                   at + ".jprof-damagedxxx/profile.jprof"}));
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
