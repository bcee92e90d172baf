// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "sidecar/inject/agent_delivery.h"
#include "sidecar/inject/place.h"
#include "tests/support/temp_dir.h"
#include "tests/support/this_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <dlfcn.h>
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

// A name that became free could be taken by another user's library, which the JVM would load.
TEST_F(Delivery, KeepsTheNameWhileTheJvmMayLoadIt) {
  std::string path;
  {
    auto delivered = deliver();
    ASSERT_TRUE(delivered) << delivered.error().text();
    path = delivered->path();
    delivered->request_is_pending(true);
    const base::Error error = delivered->keep_name(base::make_error(ErrorCode::kTimeout, "late"));
    EXPECT_NE(error.message.find(path), std::string::npos);
  }
  EXPECT_EQ(::dlopen(path.c_str(), RTLD_NOW), nullptr);
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_LT(std::filesystem::file_size(path), 256U);

  ASSERT_TRUE(deliver()); // removed again; its request was not answered
  EXPECT_TRUE(std::filesystem::exists(path));

  {
    auto answered = deliver();
    ASSERT_TRUE(answered) << answered.error().text();
    answered->request_is_pending(true);
    answered->request_is_pending(false);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Delivery, RemovesACopyWhoseRequestTheJvmNeverHad) {
  auto delivered = deliver();
  ASSERT_TRUE(delivered) << delivered.error().text();
  const std::string path = delivered->path();

  const base::Error error = delivered->keep_name(base::make_error(ErrorCode::kTimeout, "late"));
  delivered->remove();

  EXPECT_EQ(error.message, "late");
  EXPECT_FALSE(std::filesystem::exists(path));
}

class ResidentName : public Delivery {
 protected:
  ResidentName() { target_.vm.agent_library = path_; }
  ~ResidentName() override { std::filesystem::remove(path_); }

  const std::string path_ = "/tmp/.jprof-test" + std::to_string(::getpid()) + ".so";
};

TEST_F(ResidentName, IsHeldByAFileThatCannotBeLoaded) {
  {
    const auto held = hold_resident_name(target_, Deadline::after(seconds(5)));
    ASSERT_TRUE(held) << held.error().text();
    EXPECT_EQ(held->path(), path_);
    EXPECT_TRUE(std::filesystem::exists(path_));
    EXPECT_EQ(::dlopen(path_.c_str(), RTLD_NOW), nullptr);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(ResidentName, IsLeftToTheJvmsOwnCopy) {
  write(path_);
  { ASSERT_TRUE(hold_resident_name(target_, Deadline::after(seconds(5)))); }

  EXPECT_EQ(*base::read_file(path_, 1U << 20U), library());
}

TEST_F(ResidentName, IsRefusedToWhatIsNoFileOfTheJvmsUser) {
  std::filesystem::create_symlink(agent_, path_);

  const auto held = hold_resident_name(target_, Deadline::after(seconds(5)));

  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, ErrorCode::kPermission);
}

TEST_F(ResidentName, StaysWithAnEarlierRequest) {
  {
    auto earlier = hold_resident_name(target_, Deadline::after(seconds(5)));
    ASSERT_TRUE(earlier);
    earlier->request_is_pending(true);
    static_cast<void>(earlier->keep_name(base::make_error(ErrorCode::kTimeout, "late")));
  }
  ASSERT_TRUE(std::filesystem::exists(path_));

  { ASSERT_TRUE(hold_resident_name(target_, Deadline::after(seconds(5)))); }
  EXPECT_TRUE(std::filesystem::exists(path_));

  {
    auto answered = hold_resident_name(target_, Deadline::after(seconds(5)));
    ASSERT_TRUE(answered);
    answered->request_is_pending(false);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
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
