// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/target_root.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace jprof::container {
namespace {

namespace fs = std::filesystem;

// A directory plays the root of a hostile container; beside it lies a secret of ours. Every case
// runs with openat2 and with the walk that replaces it.
class Root : public ::testing::TestWithParam<Resolver> {
 protected:
  Root() : inside_(outside_.path() + "/root") {
    fs::create_directories(inside_ + "/tmp");
    write(outside_.path() + "/secret", "ours");
    write(inside_ + "/secret", "theirs");
    const int fd = ::open(inside_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    root_.emplace(TargetRoot::from(base::UniqueFd(fd), GetParam()));
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  std::string read(const std::string& path) {
    const auto text = root_->read(path, 1000);
    return text ? *text : "error: " + text.error().message;
  }

  testing::TempDir outside_;
  std::string inside_;
  std::optional<TargetRoot> root_;
};

TEST_P(Root, ReadsAPlainFile) {
  EXPECT_EQ(read("/secret"), "theirs");
  EXPECT_EQ(read("secret"), "theirs");
  EXPECT_EQ(read("/tmp/.././//secret"), "theirs");
}

TEST_P(Root, DotsDoNotLeaveIt) {
  EXPECT_EQ(read("/../secret"), "theirs");
  EXPECT_EQ(read("/../../../../../../../secret"), "theirs");
  EXPECT_EQ(read("/tmp/../../secret"), "theirs");
}

TEST_P(Root, AnAbsoluteLinkStaysInside) {
  fs::create_symlink("/secret", inside_ + "/tmp/link");
  fs::create_symlink("/", inside_ + "/tmp/slash");

  EXPECT_EQ(read("/tmp/link"), "theirs");
  EXPECT_EQ(read("/tmp/slash/secret"), "theirs");
}

TEST_P(Root, ALinkUpwardsStaysInside) {
  fs::create_symlink("../../secret", inside_ + "/tmp/link");
  fs::create_directory_symlink("../..", inside_ + "/tmp/up");

  EXPECT_EQ(read("/tmp/link"), "theirs");
  EXPECT_EQ(read("/tmp/up/secret"), "theirs");
}

TEST_P(Root, AMagicLinkIsNotTaken) {
  const TargetRoot proc = TargetRoot::from(
      base::UniqueFd(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC)), GetParam());

  EXPECT_TRUE(proc.resolve("/self/status"));
  EXPECT_FALSE(proc.resolve("/self/root/etc/passwd"));
  EXPECT_FALSE(proc.resolve("/self/cwd/."));
}

TEST_P(Root, LoopsEnd) {
  fs::create_symlink("loop", inside_ + "/tmp/loop");
  fs::create_symlink("b", inside_ + "/tmp/a");
  fs::create_symlink("a", inside_ + "/tmp/b");

  EXPECT_EQ(root_->resolve("/tmp/loop").error().os_errno, ELOOP);
  EXPECT_EQ(root_->resolve("/tmp/a").error().os_errno, ELOOP);
}

TEST_P(Root, TheLastLinkIsNotFollowedWhenSo) {
  fs::create_symlink("/secret", inside_ + "/tmp/link");

  const auto found = root_->resolve("/tmp/link", Links::kRefuseLast);

  ASSERT_TRUE(found);
  struct stat entry {};
  ASSERT_EQ(::fstat(found->get(), &entry), 0);
  EXPECT_TRUE(S_ISLNK(entry.st_mode));
}

TEST_P(Root, AFifoIsNotOpened) {
  ASSERT_EQ(::mkfifo((inside_ + "/tmp/fifo").c_str(), 0666), 0);

  const auto file = root_->open_regular("/tmp/fifo"); // must not block

  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, base::ErrorCode::kInvalidData);
}

TEST_P(Root, AFileOfTheKernelIsNotOpened) {
  const auto whole =
      TargetRoot::from(base::UniqueFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)), GetParam());

  for (const char* path : {"/proc/version", "/proc/self/environ", "/proc/kmsg"}) {
    const auto text = whole.read(path, 1U << 20U);
    ASSERT_FALSE(text) << path;
    EXPECT_EQ(text.error().code, base::ErrorCode::kInvalidData) << text.error().text();
  }
}

TEST_P(Root, ADirectoryIsNoFile) {
  EXPECT_FALSE(root_->open_regular("/tmp"));
  EXPECT_FALSE(root_->open_directory("/secret"));
  EXPECT_TRUE(root_->open_directory("/tmp"));
  EXPECT_TRUE(root_->open_directory("/"));
}

TEST_P(Root, AHugeFileIsCutOff) {
  ASSERT_EQ(::truncate((inside_ + "/secret").c_str(), 1LL << 40), 0);

  const auto text = root_->read("/secret", 4096);

  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, base::ErrorCode::kLimit);
}

TEST_P(Root, AFileIsNoDirectoryOnTheWay) {
  EXPECT_EQ(root_->resolve("/secret/x").error().os_errno, ENOTDIR);
  EXPECT_EQ(root_->resolve("/nothing").error().os_errno, ENOENT);
  EXPECT_FALSE(root_->resolve(""));
  EXPECT_FALSE(root_->resolve(std::string("/a\0b", 4)));
}

TEST_P(Root, APathWithoutEndIsRefused) {
  std::string path;
  for (int i = 0; i < 5000; ++i) {
    path += "/.";
  }

  const auto found = root_->resolve(path + "/secret");

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().os_errno, ENAMETOOLONG);
}

INSTANTIATE_TEST_SUITE_P(Resolvers, Root, ::testing::Values(Resolver::kAuto, Resolver::kWalk),
                         [](const auto& resolver) {
                           return resolver.param == Resolver::kAuto ? "Openat2" : "Walk";
                         });

} // namespace
} // namespace jprof::container
