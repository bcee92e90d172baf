// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/engines/perf_clock.h"
#include "agent/os/system.h"
#include "agent/sampling/shared_memory.h"
#include "lib/wire/region.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <pthread.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

namespace jprof::agent::engines {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

std::atomic<std::uint64_t> g_signals{0};
std::atomic<std::uint64_t> g_foreign{0};
const sampling::Sampler* g_sampler = nullptr;
const sampling::ThreadEntry* g_entry = nullptr;

void on_signal(int, siginfo_t* info, void*) {
  const bool ours = sampling::sender_of(*g_sampler, *info) == g_entry;
  (ours ? g_signals : g_foreign).fetch_add(1);
}

std::uint64_t own_cpu() {
  return os::clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void work_until(std::uint64_t cpu) {
  while (own_cpu() < cpu) {
  }
}

// The calling thread, sampled; all is measured in its CPU time.
class PerfClock : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer holds signals back, and of several of a kind it keeps one";
#endif
    if (const std::uint32_t refusal = perf_refusal(SIGPROF); refusal != 0) {
      GTEST_SKIP() << "perf's clock cannot be used here: " << refusal;
    }
    sampler_.threads = &entry_;
    sampler_.thread_capacity = 1;
    sampler_.perf_slots = slots_.data();
    sampler_.perf_capacity = static_cast<std::uint32_t>(slots_.size());
    entry_.tid = os::thread_id();
    g_sampler = &sampler_;
    g_entry = &entry_;
    g_signals = g_foreign = 0;
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ASSERT_EQ(sigaction(SIGPROF, &action, &before_), 0);
  }
  void TearDown() override {
    if (IsSkipped()) {
      return;
    }
    disarm_perf_clock(entry_);
    std::signal(SIGPROF, SIG_IGN);
    sigaction(SIGPROF, &before_, nullptr);
  }

  std::vector<std::uint16_t> slots_ = std::vector<std::uint16_t>(1024);
  sampling::Sampler sampler_;
  sampling::ThreadEntry entry_;

 private:
  struct sigaction before_ {};
};

// The tick is 1 ms to 10 ms: a timer could not keep up.
TEST_F(PerfClock, KeepsIntervalsBelowTheTick) {
  ASSERT_EQ(arm_perf_clock(sampler_, entry_, SIGPROF, kMs / 2), 0);
  const std::uint64_t begin = own_cpu();
  work_until(begin + 200 * kMs);
  disarm_perf_clock(entry_);
  const auto spent = own_cpu() - begin;

  // Where delivery is slow (an emulated machine), some are merged; a timer of 250 Hz gives an
  // eighth.
  const double expected = static_cast<double>(spent) / static_cast<double>(kMs / 2);
  EXPECT_GE(static_cast<double>(g_signals), expected / 4);
  EXPECT_LE(static_cast<double>(g_signals), expected * 6 / 5);
  EXPECT_EQ(g_foreign, 0U);
}

TEST_F(PerfClock, ChangesItsInterval) {
  ASSERT_EQ(arm_perf_clock(sampler_, entry_, SIGPROF, 100 * kMs), 0);
  change_perf_clock(entry_, kMs);
  EXPECT_EQ(entry_.interval_ns, kMs);
  work_until(own_cpu() + 100 * kMs);

  EXPECT_GE(g_signals, 50U);
}

TEST_F(PerfClock, SendsNothingOnceDisarmed) {
  ASSERT_EQ(arm_perf_clock(sampler_, entry_, SIGPROF, kMs / 2), 0);
  work_until(own_cpu() + 20 * kMs);
  const int held = ::dup(entry_.timer); // as a forked child has it: the event outlives our closing
  disarm_perf_clock(entry_);
  const std::uint64_t before = g_signals;
  work_until(own_cpu() + 50 * kMs);

  EXPECT_GT(before, 0U);
  EXPECT_EQ(g_signals, before);
  EXPECT_EQ(entry_.armed, 0U);
  ::close(held);
}

// The handler could not find the thread: the caller takes a timer.
TEST_F(PerfClock, RefusesDescriptorsBeyondTheTable) {
  sampler_.perf_capacity = 3;
  EXPECT_EQ(arm_perf_clock(sampler_, entry_, SIGPROF, kMs), -EMFILE);
  EXPECT_EQ(entry_.armed, 0U);
}

// What of a session take_sample() needs to judge a signal: a ring without room, so that one that is
// believed is told as kOutcomeRingFull. SIGPROF stays pending, to be taken when the test likes.
class PerfSignals : public PerfClock {
 protected:
  void SetUp() override {
    PerfClock::SetUp();
    if (IsSkipped() || HasFatalFailure()) {
      return;
    }
    sampler_.header = &header_;
    sampler_.threads = entries_.data();
    sampler_.visits = visits_.data();
    sampler_.thread_slots = thread_slots_.data();
    sampler_.thread_capacity = 2;
    entries_[0].tid = os::thread_id();
    sigemptyset(&profiling_);
    sigaddset(&profiling_, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &profiling_, nullptr);
  }
  void TearDown() override {
    if (!IsSkipped()) {
      disarm_perf_clock(entries_[0]);
      std::signal(SIGPROF, SIG_IGN); // drops what is pending
      pthread_sigmask(SIG_UNBLOCK, &profiling_, nullptr);
    }
    PerfClock::TearDown();
  }

  // Works until the thread's own event has sent a signal, and leaves that pending.
  static void work_until_signalled() {
    sigset_t pending;
    const std::uint64_t begin = own_cpu();
    do {
      ASSERT_LT(own_cpu(), begin + 5000 * kMs) << "no signal came";
      work_until(own_cpu() + kMs);
      sigpending(&pending);
    } while (sigismember(&pending, SIGPROF) == 0);
  }
  siginfo_t take_pending() const {
    siginfo_t info{};
    const timespec at_once{};
    EXPECT_EQ(sigtimedwait(&profiling_, &info, &at_once), SIGPROF);
    return info;
  }
  // Hands it to the sampler, as the handler does.
  void take_sample_of(const siginfo_t& info) {
    sampling::ThreadEntry* sender = sampling::sender_of(sampler_, info);
    ASSERT_NE(sender, nullptr);
    const ucontext_t context{};
    EXPECT_TRUE(sampling::take_sample(sampler_, *sender, info, &context));
  }
  std::uint64_t counted(wire::Counter which) { return sampling::counter(sampler_, which); }

  std::array<sampling::ThreadEntry, 2> entries_;

 private:
  wire::RegionHeader header_{};
  std::array<sampling::Visit, 2> visits_{};
  std::array<wire::ThreadSlot, 2> thread_slots_{};
  sigset_t profiling_{};
};

TEST_F(PerfSignals, AreBelievedWhileTheirEventLives) {
  ASSERT_EQ(arm_perf_clock(sampler_, entries_[0], SIGPROF, kMs), 0);
  work_until_signalled();
  take_sample_of(take_pending());

  EXPECT_EQ(counted(wire::Counter::kOutcomeRingFull), 1U);
  EXPECT_EQ(counted(wire::Counter::kOutcomeStale), 0U);
}

// A descriptor's number goes to whoever opens the next event: the queued signal names that one.
TEST_F(PerfSignals, AreStaleWhereTheDescriptorIsAnothersByNow) {
  ASSERT_EQ(arm_perf_clock(sampler_, entries_[0], SIGPROF, kMs), 0);
  const std::int32_t descriptor = entries_[0].timer;
  work_until_signalled();
  disarm_perf_clock(entries_[0]);
  std::atomic<std::int32_t> other{0};
  std::atomic<bool> over{false};
  std::thread thread([&] {
    other = os::thread_id();
    over.wait(false);
  });
  while (other == 0) {
    std::this_thread::yield();
  }
  entries_[1].tid = other;
  EXPECT_EQ(arm_perf_clock(sampler_, entries_[1], SIGPROF, kMs), 0);
  EXPECT_EQ(entries_[1].timer, descriptor);
  const siginfo_t info = take_pending();
  EXPECT_EQ(sampling::sender_of(sampler_, info), &entries_[1]);
  take_sample_of(info);
  disarm_perf_clock(entries_[1]);
  over = true;
  over.notify_one();
  thread.join();

  EXPECT_EQ(counted(wire::Counter::kOutcomeStale), 1U);
  EXPECT_EQ(counted(wire::Counter::kOutcomeRingFull), 0U);
}

// The table still leads from the old number to the thread.
TEST_F(PerfSignals, AreStaleWhereTheThreadHasAnotherDescriptorByNow) {
  ASSERT_EQ(arm_perf_clock(sampler_, entries_[0], SIGPROF, kMs), 0);
  const std::int32_t descriptor = entries_[0].timer;
  work_until_signalled();
  disarm_perf_clock(entries_[0]);
  const int in_its_place = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(in_its_place, descriptor);
  ASSERT_EQ(arm_perf_clock(sampler_, entries_[0], SIGPROF, 1'000'000 * kMs), 0);
  take_sample_of(take_pending());
  ::close(in_its_place);

  EXPECT_EQ(counted(wire::Counter::kOutcomeStale), 1U);
  EXPECT_EQ(counted(wire::Counter::kOutcomeRingFull), 0U);
}

TEST(PerfBudget, LeavesHalfOfTheDescriptors) {
  EXPECT_GT(perf_budget(), 0U);
  EXPECT_LT(perf_budget(), std::uint64_t{1} << 31);
}

} // namespace
} // namespace jprof::agent::engines
