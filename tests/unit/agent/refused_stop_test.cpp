// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/engines/cpu_timer.h"
#include "agent/os/system.h"
#include "tests/unit/agent/protected_loads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <initializer_list>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <thread>
#include <vector>

namespace jprof::agent {
namespace {

// From now on the calling thread is told EPERM where it calls one of these.
bool refuse(std::initializer_list<int> calls) {
  std::vector<sock_filter> code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const int call : calls) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// What a timer of a thread leaves that may not call these; its first signal would come in an hour.
engines::TimersLeft left_by_a_timer(std::initializer_list<int> calls) {
  const engines::TimersLeft before = engines::timers_left();
  bool removed_before = false;
  bool refused = false;
  std::thread([&] {
    removed_before = engines::can_remove_timers() == 0 && os::can_unmap() == 0;
    std::int32_t timer = -1;
    refused = engines::make_timer(CLOCK_MONOTONIC, SIGPROF, nullptr, &timer) == 0 &&
              engines::start_timer(timer, 3'600'000'000'000, 0) == 0 && refuse(calls) &&
              engines::can_remove_timers() == -EPERM;
    engines::remove_timer(timer);
  }).join();
  EXPECT_TRUE(removed_before && refused);
  const engines::TimersLeft after = engines::timers_left();
  return {.all = after.all - before.all, .running = after.running - before.running};
}

TEST(RefusedStop, ATimerThatCannotBeDeletedIsDisarmed) {
  const engines::TimersLeft left = left_by_a_timer({SYS_timer_delete});
  EXPECT_EQ(left.all, 1U);
  EXPECT_EQ(left.running, 0U);
}

TEST(RefusedStop, ATimerThatCannotBeDisarmedEitherIsKnownToRun) {
  const engines::TimersLeft left = left_by_a_timer({SYS_timer_delete, SYS_timer_settime});
  EXPECT_EQ(left.all, 1U);
  EXPECT_EQ(left.running, 1U);
}

TEST(RefusedStop, ATimerThatIsGoneAlreadyIsNoLeftover) {
  const engines::TimersLeft before = engines::timers_left();
  engines::remove_timer(0x7ffffff0);
  EXPECT_EQ(engines::timers_left().all, before.all);
}

TEST(RefusedStop, UnmappingIsTriedBeforeItIsNeeded) {
  static std::atomic<long> g_refused{0}; // the thread goes on when this has been seen
  EXPECT_EQ(os::can_unmap(), 0);
  std::thread([] {
    g_refused = refuse({SYS_munmap}) ? os::can_unmap() : -1;
    arch::system_call(SYS_exit, 0); // a C library would unmap what a thread has
  }).detach();
  while (g_refused == 0) {
    os::sleep_ns(1'000'000);
  }
  EXPECT_EQ(g_refused, -EPERM);
}

// What goes on sending the signal must never meet SIG_DFL.
TEST(RefusedStop, AHandlerThatIsKeptStays) {
  std::uint64_t owner = 0;
  ASSERT_EQ(sampling::install_handlers(SIGUSR1, &owner), sampling::InstallError::kNone);
  EXPECT_TRUE(sampling::actions_can_be_changed());
  sampling::keep_signal_handler();
  sampling::restore_handlers();
  EXPECT_TRUE(sampling::handler_is_ours());
  std::raise(SIGUSR1); // does nothing

  EXPECT_EQ(sampling::install_handlers(SIGUSR1, &owner), sampling::InstallError::kNone)
      << "the next session knows it for its own";
  sampling::restore_handlers();
  EXPECT_TRUE(sampling::handler_is_ours());
  std::signal(SIGUSR1, SIG_DFL);
}

} // namespace
} // namespace jprof::agent
