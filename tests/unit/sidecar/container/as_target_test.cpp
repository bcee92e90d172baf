// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "sidecar/container/as_target.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace jprof::container {
namespace {

using base::Deadline;
using base::ErrorCode;
using std::chrono::seconds;

constexpr Identity kNobody{65534, 65534};

class AsIdentity : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "only root may change ids";
    }
  }
};

// Also where no id has to change: what a target's file system never answers holds that one alone.
TEST(AsIdentityOfOurs, RunsInAProcessOfItsOwn) {
  const auto handed =
      as_identity(effective_identity(), Deadline::after(seconds(5)), []() -> base::Result<Handed> {
        return Handed{{}, std::to_string(::getpid())};
      });

  ASSERT_TRUE(handed);
  EXPECT_NE(handed->text, std::to_string(::getpid()));
}

TEST(AsIdentityOfOurs, IsKilledAtTheDeadline) {
  const auto handed =
      as_identity(effective_identity(), Deadline::after(std::chrono::milliseconds(50)),
                  []() -> base::Result<Handed> {
                    std::this_thread::sleep_for(seconds(60));
                    return Handed{};
                  });

  ASSERT_FALSE(handed);
  EXPECT_EQ(handed.error().code, ErrorCode::kTimeout);
  EXPECT_FALSE(handed.error().cure.empty());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "it was not waited for";
}

TEST_F(AsIdentity, RunsUnderItAndLeavesUsAlone) {
  const auto handed =
      as_identity(kNobody, Deadline::after(seconds(5)), []() -> base::Result<Handed> {
        const base::UniqueFd shadow(::open("/etc/shadow", O_RDONLY | O_CLOEXEC));
        return Handed{{},
                      std::to_string(::geteuid()) + ":" + std::to_string(::getegid()) + ":" +
                          std::to_string(::getuid()) + ":" + (shadow ? "read" : "denied")};
      });

  ASSERT_TRUE(handed) << handed.error().text();
  EXPECT_EQ(handed->text, "65534:65534:0:denied");
  EXPECT_EQ(::geteuid(), 0U);
}

TEST_F(AsIdentity, HandsADescriptorOver) {
  const auto handed =
      as_identity(kNobody, Deadline::after(seconds(5)), []() -> base::Result<Handed> {
        int pipe_fds[2];
        if (::pipe2(pipe_fds, O_CLOEXEC) != 0) {
          return base::errno_failure(errno, "pipe");
        }
        const base::UniqueFd write_end(pipe_fds[1]);
        (void)base::write_all(write_end.get(), "hello", "pipe");
        return Handed{base::UniqueFd(pipe_fds[0]), {}};
      });

  ASSERT_TRUE(handed) << handed.error().text();
  EXPECT_EQ(*base::read_all(handed->fd.get(), 100, "pipe"), "hello");
  EXPECT_NE(::fcntl(handed->fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(AsIdentity, BringsTheErrorBackWhole) {
  const auto handed =
      as_identity(kNobody, Deadline::after(seconds(5)), []() -> base::Result<Handed> {
        return base::make_failure(ErrorCode::kNoPlaceForAgent, "message", "cure");
      });

  ASSERT_FALSE(handed);
  EXPECT_EQ(handed.error().code, ErrorCode::kNoPlaceForAgent);
  EXPECT_EQ(handed.error().message, "message");
  EXPECT_EQ(handed.error().cure, "cure");
}

TEST_F(AsIdentity, IsKilledAtTheDeadline) {
  const auto begin = std::chrono::steady_clock::now();

  const auto handed = as_identity(kNobody, Deadline::after(std::chrono::milliseconds(100)),
                                  []() -> base::Result<Handed> {
                                    ::pause();
                                    return Handed{};
                                  });

  ASSERT_FALSE(handed);
  EXPECT_EQ(handed.error().code, ErrorCode::kTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(3));
}

TEST_F(AsIdentity, SurvivesADeadChild) {
  const auto handed = as_identity(kNobody, Deadline::after(seconds(5)),
                                  []() -> base::Result<Handed> { ::_exit(3); });

  ASSERT_FALSE(handed);
}

} // namespace
} // namespace jprof::container
