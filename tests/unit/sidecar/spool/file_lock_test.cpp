// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/as_target.h"
#include "sidecar/spool/file_lock.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace jprof::spool {
namespace {

const LockHolder kAnn{"id-1", "ann", "2026-11-21T10:00:00Z"};

class FileLockTest : public ::testing::Test {
 protected:
  jprof::testing::TempDir directory_;
  std::string path_ = directory_.path() + "/lock";
};

// A child that a target's file system holds outlives who is killed: it must not keep the lock.
TEST_F(FileLockTest, EndsWithItsProcessThoughAChildIsStuck) {
  int ready[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    const auto lock = FileLock::try_take(path_, kAnn);
    static_cast<void>(container::act_within(base::Deadline::after(std::chrono::seconds(60)), [&] {
      ::prctl(PR_SET_PDEATHSIG, 0); // as if the signal did not reach it
      const pid_t self = ::getpid();
      EXPECT_EQ(::write(ready[1], &self, sizeof self), static_cast<ssize_t>(sizeof self));
      ::pause();
      return base::Status();
    }));
    ::_exit(lock && *lock ? 0 : 1);
  }
  pid_t stuck = 0;
  ASSERT_EQ(::read(ready[0], &stuck, sizeof stuck), static_cast<ssize_t>(sizeof stuck));
  EXPECT_TRUE(FileLock::is_held(path_));

  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);

  EXPECT_FALSE(FileLock::is_held(path_));
  ::kill(stuck, SIGKILL);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(FileLockTest, TellsWhoHoldsIt) {
  const auto mine = FileLock::try_take(path_, kAnn);
  ASSERT_TRUE(mine && *mine);

  LockHolder holder;
  const auto other = FileLock::try_take(path_, {"id-2", "bob", ""}, &holder);

  ASSERT_TRUE(other);
  EXPECT_FALSE(*other);
  EXPECT_EQ(holder.id, "id-1");
  EXPECT_EQ(holder.requester, "ann");
  EXPECT_EQ(holder.until, "2026-11-21T10:00:00Z");
}

TEST_F(FileLockTest, IsFreeAgainWhenItsHolderIsGone) {
  EXPECT_FALSE(FileLock::is_held(path_));
  {
    const auto mine = FileLock::try_take(path_, kAnn);
    ASSERT_TRUE(mine && *mine);
    EXPECT_TRUE(FileLock::is_held(path_));
    EXPECT_TRUE(FileLock::is_held(path_)); // looking does not take it
  }
  EXPECT_FALSE(FileLock::is_held(path_));
  EXPECT_TRUE((*FileLock::try_take(path_, kAnn)).has_value());
}

TEST_F(FileLockTest, EndsWithAKilledProcess) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::try_take(path_, kAnn);
    static_cast<void>(::write(ready[1], "x", 1));
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(FileLock::is_held(path_));

  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);

  EXPECT_FALSE(FileLock::is_held(path_));
}

// A lock's file is removed by who holds it; who had opened it before then locks a file without a
// name, beside the next one's.
TEST_F(FileLockTest, HasOneHolderThoughItsFileIsRemoved) {
  std::atomic<int> inside = 0;
  std::atomic<int> taken = 0;
  std::atomic<bool> two = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (taken < 5000 && !two) {
        const auto lock = FileLock::try_take(path_, kAnn);
        if (lock && *lock) {
          ++taken;
          two = two || inside.fetch_add(1) != 0;
          --inside;
          ::unlink(path_.c_str()); // from now on it is the next one's
        }
      }
    });
  }
  threads.clear();
  EXPECT_FALSE(two);
}

TEST_F(FileLockTest, FollowsNoLink) {
  ASSERT_EQ(::symlink("/etc/passwd", path_.c_str()), 0);
  EXPECT_FALSE(FileLock::try_take(path_, kAnn));
  EXPECT_FALSE(FileLock::is_held(path_));
}

} // namespace
} // namespace jprof::spool
