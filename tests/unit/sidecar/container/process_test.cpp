// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/process.h"
#include "tests/support/child_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace jprof::container {
namespace {

using base::ErrorCode;

TEST(Process, IsOurselvesByOurPid) {
  const auto proc = ProcRoot::open();
  ASSERT_TRUE(proc);

  const auto self = Process::open(*proc, ::getpid());

  ASSERT_TRUE(self) << self.error().text();
  EXPECT_TRUE(self->running());
  EXPECT_EQ(self->status()->effective_uid, ::geteuid());
  const auto pids = proc->list_pids();
  ASSERT_TRUE(pids);
  EXPECT_TRUE(std::find(pids->begin(), pids->end(), ::getpid()) != pids->end());
}

TEST(Process, ThatDoesNotExistIsNotFound) {
  const auto proc = ProcRoot::open();

  const auto process = Process::open(*proc, 1 << 22);

  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::kTargetNotFound);
}

TEST(Process, ThatEndedIsGoneEvenWhereItsNumberLives) {
  const auto proc = ProcRoot::open();
  std::optional<Process> process;
  {
    testing::ChildProcess child({"sleep", "60"});
    auto opened = Process::open(*proc, child.pid());
    ASSERT_TRUE(opened);
    process.emplace(std::move(*opened));
    EXPECT_TRUE(process->running());
  } // killed and reaped

  EXPECT_FALSE(process->running());
  EXPECT_EQ(process->read("status", 100).error().code, ErrorCode::kTargetGone);
  EXPECT_EQ(process->send_signal(0).error().code, ErrorCode::kTargetGone);
}

TEST(Process, ShowsTheNamesOfADirectoryUntilTheVisitorHasSeenEnough) {
  const auto proc = ProcRoot::open();
  const auto self = Process::open(*proc, ::getpid());
  ASSERT_TRUE(self);
  std::vector<base::UniqueFd> many; // more than one call of the kernel's tells
  for (int i = 0; i < 100; ++i) {
    many.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  std::size_t seen = 0;
  EXPECT_TRUE(self->visit("fd", [&seen](const std::string&) { return ++seen < 70; }));

  EXPECT_EQ(seen, 70U);
  EXPECT_GE(self->list("fd", 10'000)->size(), 100U);
  EXPECT_EQ(self->list("fd", 3)->size(), 3U);
  EXPECT_FALSE(self->visit("no-such-directory", [](const std::string&) { return true; }));
}

TEST(Process, GetsTheSignal) {
  const auto proc = ProcRoot::open();
  testing::ChildProcess child({"sleep", "60"});
  const auto process = Process::open(*proc, child.pid());
  ASSERT_TRUE(process);

  ASSERT_TRUE(process->send_signal(SIGSTOP));

  int status = 0;
  ASSERT_EQ(::waitpid(child.pid(), &status, WUNTRACED), child.pid());
  EXPECT_TRUE(WIFSTOPPED(status));
}

TEST(Process, ReadsNoMoreThanAsked) {
  const auto proc = ProcRoot::open();
  const auto self = Process::open(*proc, ::getpid());

  EXPECT_EQ(self->read("status", 10)->size(), 10U);
  EXPECT_GT(self->read("maps", 1U << 20U)->size(), 1000U);
}

} // namespace
} // namespace jprof::container
