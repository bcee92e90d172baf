// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/arch/arch.h"
#include "agent/os/process.h"
#include "agent/os/system.h"
#include "agent/recording/region_layout.h"
#include "agent/signals/open_visits.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>
#include <ucontext.h>
#include <vector>

namespace jprof::agent {
namespace {

using sampling::Visit;

// What the kernel would put on a stack for a signal that interrupts the caller.
ucontext_t interrupted_here(std::uint64_t sp) {
  ucontext_t context{};
  const std::uint64_t at = arch::stack_pointer_in(reinterpret_cast<std::uint64_t>(&context));
  std::memcpy(reinterpret_cast<void*>(at), &sp, sizeof sp);
  return context;
}

class OpenVisitsTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kBytes = 4U << 20;

  OpenVisitsTest() : region_(kBytes / 8), sampler_(std::make_unique<sampling::Sampler>()) {
    EXPECT_TRUE(recording::lay_out(region_.data(), kBytes, 20, sampler_.get(), &tables_));
    recording::reset_generation(sampler_->generations[0], 1);
    visits_.begin(sampler_.get(), SIGPROF);
  }

  Visit& visit() { return sampler_->visits[0]; }
  sampling::ThreadEntry& entry() { return sampler_->threads[0]; }
  // As a handler does on `tid`.
  std::uint32_t enter(std::int32_t tid, const ucontext_t& context) {
    sampling::count_in();
    entry().tid = tid;
    sampler_->thread_slots[0].tid = static_cast<std::uint32_t>(tid);
    return sampling::enter(visit(), &context);
  }

  std::vector<std::uint64_t> region_;
  std::unique_ptr<sampling::Sampler> sampler_;
  recording::PrivateTables tables_;
  OpenVisits visits_;
};

TEST_F(OpenVisitsTest, WhatAVisitHeldIsGivenBackOnce) {
  const ucontext_t context = interrupted_here(0x1000);
  const std::uint32_t token = enter(::gettid(), context);
  ASSERT_NE(token, 0U);
  EXPECT_EQ(sampling::enter(visit(), &context), 0U) << "nested";
  sampler_->scratch[2].taken = 1;
  sampler_->scratch[2].guarded_sp = 0x2000;
  visit().scratch = 3;
  visit().generation = static_cast<std::uint8_t>(sampler_->generation_gate.enter() + 1);
  visit().modules = static_cast<std::uint8_t>(sampler_->module_gate.enter() + 1);
  visit().weight = 77;

  EXPECT_TRUE(sampling::end_visit(*sampler_, entry(), token));
  EXPECT_FALSE(sampling::end_visit(*sampler_, entry(), token));
  EXPECT_FALSE(sampling::leave(visit(), token)) << "a handler that comes back has lost it";

  EXPECT_EQ(sampler_->scratch[2].taken, 0U);
  EXPECT_EQ(sampler_->scratch[2].guarded_sp, 0U);
  EXPECT_TRUE(sampler_->generation_gate.idle(0) && sampler_->module_gate.idle(0));
  EXPECT_EQ(sampling::handlers_inside(), 0U);
  EXPECT_EQ(sampler_->header->ring_head, 1U);
  EXPECT_EQ(sampler_->ring[0].ticket, 1U);
  EXPECT_EQ(sampler_->ring[0].weight, 77U);
  EXPECT_EQ(sampler_->ring[0].stack,
            wire::kStackIsError | static_cast<std::uint32_t>(wire::ErrorFrame::kJumpedOut));
  EXPECT_EQ(sampling::counter(*sampler_, wire::Counter::kOutcomeError), 1U);
  EXPECT_NE(sampling::enter(visit(), &context), 0U);
}

TEST_F(OpenVisitsTest, ASampleThatHasBeenTakenIsNotTakenAgain) {
  const std::uint32_t token = enter(::gettid(), interrupted_here(0x1000));
  visit().number = sampling::kOutcomeTold;

  EXPECT_TRUE(sampling::end_visit(*sampler_, entry(), token));

  EXPECT_EQ(sampler_->header->ring_head, 0U);
  EXPECT_EQ(sampling::counter(*sampler_, wire::Counter::kOutcomeError), 0U);
}

TEST(VisitFrame, IsLeftBehindByWhoStandsAboveIt) {
  Visit visit;
  visit.frame = 0x10000;
  EXPECT_TRUE(sampling::is_left_behind(visit, 0x10008));
  EXPECT_FALSE(sampling::is_left_behind(visit, 0x10000));
  EXPECT_FALSE(sampling::is_left_behind(visit, 0xf000)) << "nested in the handler";

  visit.stack_begin = 0xc000; // an alternate stack
  visit.stack_end = 0x11000;
  EXPECT_FALSE(sampling::is_left_behind(visit, 0xf000));
  EXPECT_TRUE(sampling::is_left_behind(visit, 0x10800));
  EXPECT_TRUE(sampling::is_left_behind(visit, 0x2000)) << "below, but not on that stack";
}

TEST(VisitFrame, IsNotLeftBehindOnAnAlternateStackThatCameLater) {
  Visit visit;
  visit.frame = 0x10000;
  ucontext_t context = interrupted_here(0x50800);
  EXPECT_TRUE(sampling::is_left_behind_by(visit, &context));
  context.uc_stack.ss_sp = reinterpret_cast<void*>(0x50000);
  context.uc_stack.ss_size = 0x1000;
  EXPECT_FALSE(sampling::is_left_behind_by(visit, &context));
}

// A thread that sleeps, in its handler or after it has left it.
class SleepersVisit : public OpenVisitsTest {
 protected:
  ~SleepersVisit() override {
    awake_ = 1;
    arch::system_call(SYS_futex, os::as_argument(&awake_), FUTEX_WAKE, 1);
    thread_.join();
    if (sampling::handlers_inside() != 0) {
      sampling::count_out();
    }
  }

  [[gnu::noinline]] void be_inside(bool sleeps) {
    char deep[512]; // a call below the handler's frame, as siglongjmp() comes from
    std::memset(deep, 1, sizeof deep);
    const ucontext_t context =
        interrupted_here(reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) + 64);
    token_ = enter(::gettid(), context);
    if (sleeps) {
      sleep();
    }
    asm volatile("" : : "r"(deep), "r"(&context) : "memory");
  }
  void sleep() {
    while (awake_ == 0) {
      arch::system_call(SYS_futex, os::as_argument(&awake_), FUTEX_WAIT, 0, 0);
    }
  }
  void start(bool inside) {
    thread_ = std::thread([this, inside] {
      be_inside(inside);
      sleep();
    });
    std::uint64_t sp = 0;
    while (token_ == 0 || !os::stack_pointer_of(entry().tid, &sp)) {
      os::sleep_ns(1'000'000);
    }
  }

  std::thread thread_;
  std::atomic<std::uint32_t> token_{0};
  std::atomic<std::uint32_t> awake_{0};
};

TEST_F(SleepersVisit, EndsOnceItsStackHasGrownBack) {
  start(false);
  EXPECT_EQ(visits_.wait(10'000'000'000), 0U);
  EXPECT_EQ(sampling::open_visit(visit()), 0U);
}

TEST_F(SleepersVisit, LastsAsLongAsItsFrameDoes) {
  start(true);
  EXPECT_EQ(visits_.wait(200'000'000), 1U);
  EXPECT_EQ(sampling::open_visit(visit()), token_);
}

TEST_F(OpenVisitsTest, OfAThreadThatHasEndedIsOver) {
  ucontext_t context = interrupted_here(1);
  std::thread([&] { enter(::gettid(), context); }).join();
  EXPECT_EQ(visits_.wait(10'000'000'000), 0U);
}

TEST_F(OpenVisitsTest, IsOverWhenItsFrameHasBeenOverwritten) {
  ucontext_t context = interrupted_here(~std::uint64_t{0});
  const std::uint32_t token = enter(::gettid(), context);
  visits_.look(); // this thread runs, and its signal is not blocked, but for no time yet
  EXPECT_EQ(sampling::open_visit(visit()), token);
  context = interrupted_here(5);
  asm volatile("" : : "r"(&context) : "memory");
  visits_.look();
  EXPECT_EQ(sampling::open_visit(visit()), 0U);
}

TEST_F(OpenVisitsTest, IsOverWhenItsThreadWorksAndTakesSignals) {
  for (const bool blocked : {true, false}) {
    ucontext_t context = interrupted_here(1);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    std::atomic<int> step{0};
    std::thread worker([&] {
      pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, nullptr);
      enter(::gettid(), context);
      for (step = 1; step == 1;) {
      }
    });
    while (step == 0) {
      os::sleep_ns(1'000'000);
    }
    EXPECT_EQ(visits_.wait(blocked ? 300'000'000 : 10'000'000'000), blocked ? 1U : 0U);
    step = 2;
    worker.join();
    EXPECT_EQ(visits_.wait(10'000'000'000), 0U);
  }
}

} // namespace
} // namespace jprof::agent
