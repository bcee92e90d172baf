// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "sidecar/inject/agent_delivery.h"
#include "sidecar/inject/place.h"
#include "tests/support/temp_dir.h"
#include "tests/support/this_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace jprof::inject {
namespace {

using base::Deadline;
using base::ErrorCode;
using base::UniqueFd;
using std::chrono::seconds;

std::string library() {
  return "\177ELF" + std::string(5000, 'x');
}

class Delivery : public ::testing::Test {
 protected:
  Delivery() : target_(testing::this_process()), agent_(files_.path() + "/libjprof.so") {
    write(agent_);
  }
  void write(const std::string& path, const std::string& bytes = library()) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  base::Result<DeliveredAgent> deliver(std::optional<SharedVolume> volume = std::nullopt) {
    return deliver_agent(target_, {.agent_file = agent_, .volume = std::move(volume)},
                         Deadline::after(seconds(5)), skipped_);
  }

  testing::TempDir files_;
  jvm::Target target_;
  std::string agent_;
  std::vector<std::string> skipped_;
};

TEST_F(Delivery, PutsACopyIntoTmpAndRemovesIt) {
  std::string path;
  {
    const auto delivered = deliver();
    ASSERT_TRUE(delivered) << delivered.error().text();
    path = delivered->path();
    EXPECT_EQ(delivered->source(), AgentSource::kCopy);
    EXPECT_TRUE(path.starts_with("/tmp/.jprof-"));
    EXPECT_EQ(*base::read_file(path, 1U << 20U), library());
    struct stat entry {};
    ASSERT_EQ(::stat(path.c_str(), &entry), 0);
    EXPECT_EQ(entry.st_mode & 07777U, 0444U);
    EXPECT_EQ(skipped_.size(), 1U); // why no shared volume
  }

  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Delivery, TakesASharedVolumeWithTheSameBytes) {
  testing::TempDir volume;
  ASSERT_TRUE(fill_volume(agent_, volume.path()));

  const auto delivered = deliver(SharedVolume{volume.path(), {}});

  ASSERT_TRUE(delivered) << delivered.error().text();
  EXPECT_EQ(delivered->source(), AgentSource::kSharedVolume);
  EXPECT_EQ(delivered->path(), volume.path() + "/libjprof.so");
  EXPECT_TRUE(skipped_.empty());
  EXPECT_TRUE(std::filesystem::exists(delivered->path())); // and is not ours to remove
}

TEST_F(Delivery, SkipsASharedVolumeWithOtherBytesAndSaysSo) {
  testing::TempDir volume;
  write(volume.path() + "/libjprof.so", library() + "y");

  const auto delivered = deliver(SharedVolume{volume.path(), {}});

  ASSERT_TRUE(delivered) << delivered.error().text();
  EXPECT_EQ(delivered->source(), AgentSource::kCopy);
  ASSERT_EQ(skipped_.size(), 1U);
  EXPECT_NE(skipped_[0].find("a different version"), std::string::npos);
}

TEST_F(Delivery, SkipsAVolumeThatTheTargetDoesNotSee) {
  const auto delivered = deliver(SharedVolume{files_.path(), "/nowhere"});

  ASSERT_TRUE(delivered);
  EXPECT_EQ(delivered->source(), AgentSource::kCopy);
  EXPECT_NE(skipped_[0].find("/nowhere"), std::string::npos);
}

TEST_F(Delivery, RefusesWhatIsNoLibrary) {
  write(agent_, "#!/bin/sh\n");
  EXPECT_EQ(deliver().error().code, ErrorCode::kInvalidData);

  agent_ += ".missing";
  EXPECT_FALSE(deliver());
}

TEST(FillVolume, WritesOnlyWhatIsNotThere) {
  testing::TempDir files;
  const std::string agent = files.path() + "/agent.so";
  std::ofstream(agent, std::ios::binary) << library();
  testing::TempDir volume;
  const std::string placed = volume.path() + "/libjprof.so";
  ASSERT_TRUE(fill_volume(agent, volume.path()));
  struct stat first {};
  ASSERT_EQ(::stat(placed.c_str(), &first), 0);

  ASSERT_TRUE(fill_volume(agent, volume.path()));

  struct stat second {};
  ASSERT_EQ(::stat(placed.c_str(), &second), 0);
  EXPECT_EQ(first.st_ino, second.st_ino);
  EXPECT_EQ(first.st_mode & 07777U, 0444U);
}

TEST(Place, RefusesANameThatIsThere) {
  testing::TempDir directory;
  const UniqueFd fd(::open(directory.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::filesystem::create_symlink("/tmp/elsewhere", directory.path() + "/planted");

  const auto status = write_copy(fd.get(), "dir", "planted", library());

  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kNoPlaceForAgent);
  EXPECT_TRUE(std::filesystem::is_symlink(directory.path() + "/planted")); // not ours to remove
}

TEST(Place, IsNoneWhereFilesCannotBeMade) {
  const UniqueFd fd(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));

  EXPECT_FALSE(write_copy(fd.get(), "/proc", "x", library()));
}

TEST(Place, IsNoneWithoutRoom) {
  testing::TempDir directory;
  const UniqueFd fd(::open(directory.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));

  EXPECT_TRUE(check_place(fd.get(), 1));
  EXPECT_FALSE(check_place(fd.get(), std::uint64_t{1} << 60U));
}

} // namespace
} // namespace jprof::inject
