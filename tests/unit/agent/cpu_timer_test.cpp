// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/engines/cpu_timer.h"
#include "agent/os/system.h"
#include "agent/sampling/account.h"
#include "agent/sampling/shared_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <sys/syscall.h>
#include <thread>

namespace jprof::agent::engines {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kMaxTick = 10 * kMs; // CONFIG_HZ=100

std::atomic<std::uint64_t> g_weight{0};

void on_signal(int, siginfo_t* info, void*) {
  auto& entry = *static_cast<sampling::ThreadEntry*>(info->si_value.sival_ptr);
  const auto overruns = static_cast<std::uint64_t>(info->si_overrun > 0 ? info->si_overrun : 0);
  g_weight += sampling::take_weight(entry, overruns);
}

std::uint64_t own_cpu() {
  return os::clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void on_tick(int, siginfo_t* info, void*) {
  auto& entry = *static_cast<sampling::ThreadEntry*>(info->si_value.sival_ptr);
  const auto overruns = static_cast<std::uint64_t>(info->si_overrun > 0 ? info->si_overrun : 0);
  g_weight += sampling::account_ticks_to(entry, os::clock_ns(CLOCK_THREAD_CPUTIME_ID),
                                         (1 + overruns) * entry.interval_ns);
}

void work_until(std::uint64_t cpu) {
  while (own_cpu() < cpu) {
  }
}

// The calling thread, sampled. Everything is measured in its CPU time: load does not matter.
class CpuTimer : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer holds signals back, and of several of a kind it keeps one";
#endif
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ASSERT_EQ(sigaction(SIGPROF, &action, &before_), 0);
    g_weight = 0;
    entry_.tid = os::thread_id();
  }
  void TearDown() override {
    if (IsSkipped()) {
      return;
    }
    disarm_cpu_timer(entry_);
    std::signal(SIGPROF, SIG_IGN); // what is queued must not kill
    sigaction(SIGPROF, &before_, nullptr);
  }

  sampling::ThreadEntry entry_;

 private:
  struct sigaction before_ {};
};

TEST_F(CpuTimer, WeightsAreTheThreadsCpuTime) {
  const std::uint64_t begin = own_cpu();
  entry_.accounted_ns = begin;
  ASSERT_EQ(arm_cpu_timer(entry_, SIGPROF, 4 * kMs, 2 * kMs), 0);
  work_until(begin + 200 * kMs);
  disarm_cpu_timer(entry_);
  const auto spent = static_cast<double>(own_cpu() - begin);
  // A virtual machine that has to wait for its host may tick late.
  EXPECT_NEAR(static_cast<double>(g_weight), spent, static_cast<double>(4 * kMs + 3 * kMaxTick));
}

// The first signal comes at a random phase: it must not weigh what was used before the thread was
// armed.
TEST_F(CpuTimer, TheFirstSignalStandsForNoMoreThanWasUsed) {
  const std::uint64_t begin = own_cpu();
  entry_.accounted_ns = begin;
  ASSERT_EQ(arm_cpu_timer(entry_, SIGPROF, 500 * kMs, 3 * kMs), 0);
  while (g_weight == 0 && own_cpu() < begin + 3000 * kMs) {
  }
  disarm_cpu_timer(entry_);
  EXPECT_GE(g_weight, 3 * kMs);
  EXPECT_LE(g_weight, own_cpu() - begin);
  const std::uint64_t weight = g_weight;
  EXPECT_EQ(entry_.accounted_ns, begin + weight) << "the rest is what is left to tell";
}

// A thread that began during the session and was found late: its first signal stands for all that
// it has used, and comes soon.
TEST_F(CpuTimer, AThreadThatIsFoundLateLosesNoTime) {
  entry_.accounted_ns = 0;
  work_until(own_cpu() + 20 * kMs);
  ASSERT_EQ(arm_cpu_timer(entry_, SIGPROF, 100 * kMs, 7 * kMs), 0);
  const std::uint64_t armed = own_cpu();
  while (g_weight == 0 && own_cpu() < armed + 3000 * kMs) {
  }
  disarm_cpu_timer(entry_);
  EXPECT_GE(g_weight, 20 * kMs);
  EXPECT_LE(g_weight, own_cpu());
}

// What the handler's clock has shown, in whatever order handler and agent come to it.
TEST(Account, CountsEachNanosecondOnce) {
  sampling::ThreadEntry entry;
  entry.accounted_ns = 100;
  EXPECT_EQ(sampling::account_to(entry, 150), 50U);
  EXPECT_EQ(sampling::account_to(entry, 140), 0U); // read before, written after
  EXPECT_EQ(sampling::account_to(entry, 160), 10U);
  EXPECT_EQ(entry.accounted_ns, 160U);
}

// Late in a burst of work, where a tick finds more time before it than early.
TEST(Account, TellsWhatExceedsATickByAndBy) {
  sampling::ThreadEntry entry;
  entry.accounted_ns = 100;
  EXPECT_EQ(sampling::account_ticks_to(entry, 108, 10), 8U) << "never more than was used";
  EXPECT_EQ(sampling::account_ticks_to(entry, 126, 10), 11U) << "of 18";
  EXPECT_EQ(sampling::account_ticks_to(entry, 129, 10), 10U) << "the 7 that were left, and 3";
  EXPECT_EQ(sampling::account_ticks_to(entry, 329, 10), 191U) << "nothing waits for long";
  EXPECT_EQ(sampling::account_to(entry, 329), 9U);
}

TEST_F(CpuTimer, ATimerThatCountsTicksLosesNoTime) {
  struct sigaction action {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ASSERT_EQ(sigaction(SIGPROF, &action, nullptr), 0);
  const std::uint64_t begin = own_cpu();
  entry_.accounted_ns = begin;
  ASSERT_EQ(arm_cpu_timer(entry_, SIGPROF, 20 * kMs, 20 * kMs), 0);
  const std::int32_t before = entry_.timer;
  ASSERT_EQ(count_ticks(entry_, SIGPROF, 20 * kMs), 0);
  EXPECT_NE(entry_.timer, before);
  EXPECT_EQ(entry_.counts_ticks, 1U);
  EXPECT_EQ(arch::system_call(SYS_timer_delete, before), -EINVAL) << "the old one is gone";
  const auto missing = [&] {
    return static_cast<double>(own_cpu() - begin) - static_cast<double>(g_weight);
  };
  const auto bound = static_cast<double>(2 * 20 * kMs + kMaxTick);
  for (int i = 1; i <= 20; ++i) {
    work_until(begin + static_cast<std::uint64_t>(i) * 20 * kMs);
  }
  for (int i = 0; i < 100 && missing() > bound; ++i) { // on a crowded machine, late
    work_until(own_cpu() + 10 * kMs);
  }
  EXPECT_NEAR(missing(), 0, bound);
  EXPECT_FALSE(cpu_timer_is_dead(entry_));

  const std::uint64_t told = g_weight;
  change_cpu_timer(entry_, 40 * kMs);
  EXPECT_EQ(entry_.interval_ns, 40 * kMs);
  for (int i = 0; i < 100 && g_weight == told; ++i) {
    work_until(own_cpu() + 10 * kMs);
  }
  EXPECT_GT(g_weight, told);
}

TEST_F(CpuTimer, KnowsATimerWhoseThreadHasEnded) {
  sampling::ThreadEntry other;
  std::atomic<bool> may_end{false};
  std::atomic<std::int32_t> tid{0};
  std::thread thread([&] {
    tid = os::thread_id();
    tid.notify_all();
    may_end.wait(false);
  });
  tid.wait(0);
  other.tid = tid;
  ASSERT_TRUE(has_cpu_clock(other.tid));
  ASSERT_EQ(arm_cpu_timer(other, SIGPROF, 4 * kMs, 4 * kMs), 0);
  ASSERT_EQ(arm_cpu_timer(entry_, SIGPROF, 4 * kMs, 4 * kMs), 0);
  EXPECT_FALSE(cpu_timer_is_dead(other));
  for (const std::uint64_t end = own_cpu() + 50 * kMs; own_cpu() < end;) {
    ASSERT_FALSE(cpu_timer_is_dead(entry_)) << "also when it has just fired";
  }
  may_end = true;
  may_end.notify_all();
  thread.join();
  while (has_cpu_clock(other.tid)) { // the kernel takes a moment longer than join
  }
  EXPECT_TRUE(cpu_timer_is_dead(other));
  disarm_cpu_timer(other);
}

// Changed more often than the timer comes: whatever a change forgets would be most of the time.
TEST_F(CpuTimer, ChangesOfTheIntervalLoseNoTime) {
  const std::uint64_t begin = own_cpu();
  entry_.accounted_ns = begin;
  ASSERT_EQ(arm_cpu_timer(entry_, SIGPROF, 8 * kMs, 4 * kMs), 0);
  for (std::uint64_t i = 1; i <= 60; ++i) {
    work_until(begin + i * 5 * kMs);
    change_cpu_timer(entry_, (i % 2 == 0 ? 8 : 16) * kMs);
  }
  // On a crowded machine ticks may find other threads for a while; what a change forgot stays away.
  const auto bound = static_cast<double>(16 * kMs + kMaxTick);
  const auto missing = [&] {
    return static_cast<double>(own_cpu() - begin) - static_cast<double>(g_weight);
  };
  work_until(own_cpu() + 40 * kMs);
  for (int i = 0; i < 100 && missing() > bound; ++i) {
    work_until(own_cpu() + 10 * kMs);
  }
  EXPECT_NEAR(missing(), 0, bound);
  disarm_cpu_timer(entry_);
}

// Shorter than the tick: several intervals have passed before the kernel looks at the timer.
TEST_F(CpuTimer, ExpiriesThatTheKernelHasNotLookedAtAreCarriedOver) {
  const std::uint64_t begin = own_cpu();
  entry_.accounted_ns = begin;
  ASSERT_EQ(arm_cpu_timer(entry_, SIGPROF, kMs / 2, kMs / 4), 0);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    work_until(begin + i * 3 * kMs);
    change_cpu_timer(entry_, i % 2 == 0 ? kMs / 2 : kMs);
  }
  work_until(own_cpu() + 2 * kMaxTick);
  disarm_cpu_timer(entry_);
  const auto spent = static_cast<double>(own_cpu() - begin);
  EXPECT_NEAR(static_cast<double>(g_weight), spent, static_cast<double>(kMs + 2 * kMaxTick));
}

} // namespace
} // namespace jprof::agent::engines
