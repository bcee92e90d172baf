// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/process.h"
#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
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

// A /proc made of files, of one process whose first thread is a zombie.
class EndingProcess {
 public:
  EndingProcess() { write_thread("", 'Z', 0, 0); }
  // Of the process itself where `folder` is empty.
  void write_thread(const std::string& folder, char state, unsigned flags, std::uint64_t pending,
                    int exit_code = 0) const {
    const std::filesystem::path path = tree_.path() + "/7/" + folder;
    std::filesystem::create_directories(path);
    std::ofstream(path / "stat") << "7 (java) " << state << " 1 1 1 0 -1 " << flags
                                 << " 0 0 0 0 0 0 0 0 20 0 2 0 1234 0 0"
                                 << " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
                                 << exit_code << '\n';
    std::ofstream(path / "status")
        << "Name:\tjava\nState:\t" << state
        << " (x)\nUid:\t7\t7\t7\t7\nGid:\t7\t7\t7\t7\nNSpid:\t7\nThreads:\t2\nSigPnd:\t" << std::hex
        << pending << "\nSigCgt:\t0\nCapPrm:\t0\nCapEff:\t0\n";
  }
  Process open() const { return std::move(*Process::open(*ProcRoot::open(tree_.path()), 7)); }

 private:
  testing::TempDir tree_;
};

TEST(Process, WhoseFirstThreadHasEndedRunsWhileAnotherDoes) {
  constexpr unsigned kExiting = 4;
  constexpr std::uint64_t kKilled = 1U << (SIGKILL - 1);
  EndingProcess tree;
  const Process process = tree.open();
  tree.write_thread("task/8", 'S', 0, 0);
  EXPECT_TRUE(process.running()); // pthread_exit in main
  EXPECT_FALSE(process.ends_within(std::chrono::milliseconds(20)));
  EXPECT_NE(process.read("maps", 1).error().code, ErrorCode::kTargetGone);

  tree.write_thread("task/8", 'R', 0, kKilled);
  EXPECT_FALSE(process.running());
  tree.write_thread("task/8", 'R', kExiting, 0);
  EXPECT_FALSE(process.running());
  EXPECT_EQ(process.read("maps", 1).error().code, ErrorCode::kTargetGone);
  tree.write_thread("task/8", 'S', 0, 0);
  tree.write_thread("", 'Z', 0, 0, SIGKILL); // one signal ends them all
  EXPECT_FALSE(process.running());
  EXPECT_EQ(process.ending(), "signal 9 (Killed)");
  tree.write_thread("", 'R', kExiting,
                    0); // its root and its maps are gone, but it is no zombie yet
  tree.write_thread("task/8", 'R', kExiting, 0);
  EXPECT_FALSE(process.running());
}

TEST(Process, ThatEndedSaysByWhatAndWhatToDo) {
  const auto proc = ProcRoot::open();
  testing::ChildProcess child({"sleep", "60"});
  const auto process = Process::open(*proc, child.pid());
  ASSERT_TRUE(process);
  ASSERT_TRUE(process->send_signal(SIGTERM));
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT), 0);

  const base::Error error = process->gone();

  EXPECT_FALSE(process->running());
  EXPECT_EQ(error.code, ErrorCode::kTargetGone);
  EXPECT_EQ(error.message,
            "process " + std::to_string(child.pid()) + " has ended: signal 15 (Terminated)");
  EXPECT_NE(error.cure.find("dmesg"), std::string::npos);
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
