// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/arch/safe_load.h"
#include "agent/os/system.h"
#include "agent/sampling/blocked_faults.h"
#include "agent/sampling/handler.h"
#include "tests/unit/agent/protected_loads.h"

#include <gtest/gtest.h>

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <sys/mman.h>

namespace jprof::agent {
namespace {

sigjmp_buf g_before; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): the way out of a
                     // fault handler

void on_foreign_fault(int) {
  siglongjmp(g_before, 1);
}

// Two pages of which the second cannot be read.
class SafeLoad : public ::testing::Test {
 protected:
  void SetUp() override {
    pages_ = static_cast<char*>(
        mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages_, MAP_FAILED);
    std::memset(pages_, 'x', 8192);
    ASSERT_EQ(mprotect(pages_ + 4096, 4096, PROT_NONE), 0);
    struct sigaction action {};
    action.sa_handler = on_foreign_fault;
    ASSERT_EQ(sigaction(SIGSEGV, &action, &old_), 0);
    std::uint64_t owner = 0;
    ASSERT_EQ(sampling::install_handlers(SIGPROF, &owner), sampling::InstallError::kNone);
  }
  void TearDown() override {
    sampling::restore_handlers();
    struct sigaction now {};
    sigaction(SIGSEGV, nullptr, &now);
    EXPECT_EQ(now.sa_handler, on_foreign_fault) << "what was there before is there again";
    sigaction(SIGSEGV, &old_, nullptr);
    munmap(pages_, 8192);
  }
  std::uint64_t at(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(pages_ + offset);
  }

  char* pages_ = nullptr;
  struct sigaction old_ {};
};

TEST_F(SafeLoad, ReadsWhatIsThere) {
  std::uint8_t byte = 0;
  std::uint16_t half = 0;
  std::uint32_t word = 0;
  std::uint64_t value = 0;

  EXPECT_TRUE(arch::load(at(0), &byte));
  EXPECT_TRUE(arch::load(at(1), &half));
  EXPECT_TRUE(arch::load(at(2), &word));
  EXPECT_TRUE(arch::load(at(4088), &value));

  EXPECT_EQ(byte, 'x');
  EXPECT_EQ(half, 0x7878);
  EXPECT_EQ(word, 0x78787878U);
  EXPECT_EQ(value, 0x7878787878787878ULL);
}

TEST_F(SafeLoad, SaysFalseAtBadAddresses) {
  std::uint8_t byte = 7;
  std::uint16_t half = 7;
  std::uint32_t word = 7;
  std::uint64_t value = 7;

  EXPECT_FALSE(arch::load(at(4096), &byte));
  EXPECT_FALSE(arch::load(at(4095), &half));
  EXPECT_FALSE(arch::load(at(4093), &word));
  EXPECT_FALSE(arch::load(at(4089), &value));
  EXPECT_FALSE(arch::load(0x8000000000000000ULL, &value)) << "not an address at all";
  EXPECT_EQ(value, 7U);
  EXPECT_EQ(arch::word_at(8, 99), 99U);
}

// Else the kernel would end the process: a handler does not help a thread that blocks its signal.
TEST_F(SafeLoad, SaysFalseInAThreadThatBlocksFaults) {
  std::uint64_t mask = 0;
  std::uint64_t value = 7;
  arch::system_call(SYS_rt_sigprocmask, SIG_BLOCK, os::as_argument(&sampling::kFaultSignals),
                    os::as_argument(&mask), 8);
  ucontext_t interrupted{};
  getcontext(&interrupted);

  const bool without_a_call = sampling::let_faults_arrive(&interrupted, false);
  const bool with_a_call = sampling::let_faults_arrive(&interrupted, true);
  const bool loaded = with_a_call && arch::load(at(4096), &value);

  arch::system_call(SYS_rt_sigprocmask, SIG_SETMASK, os::as_argument(&mask), 0, 8);
  EXPECT_FALSE(without_a_call);
  EXPECT_TRUE(with_a_call);
  EXPECT_FALSE(loaded);
  getcontext(&interrupted);
  EXPECT_TRUE(sampling::let_faults_arrive(&interrupted, false)) << "nothing is blocked now";
}

TEST_F(SafeLoad, CopiesUpToTheFault) {
  char to[64] = {};

  EXPECT_EQ(jprof_copy(to, at(4096 - 10), 64), 10U);
  EXPECT_EQ(to[9], 'x');
  EXPECT_EQ(to[10], 0);
  EXPECT_TRUE(arch::copy(to, at(0), 64));
  EXPECT_EQ(jprof_copy(to, at(4096), 1), 0U);
}

TEST_F(SafeLoad, LeavesOtherFaultsToTheHandlerBefore) {
  bool handled = false;
  if (sigsetjmp(g_before, 1) == 0) {
    *const_cast<volatile char*>(pages_ + 4096) = 1;
  } else {
    handled = true;
  }

  EXPECT_TRUE(handled);
}

TEST_F(SafeLoad, RefusesASignalThatIsTaken) {
  std::signal(SIGUSR2, on_foreign_fault);
  std::uint64_t owner = 0;

  EXPECT_EQ(sampling::install_handlers(SIGUSR2, &owner), sampling::InstallError::kSignalTaken);
  // By the system call: ThreadSanitizer puts its own handler there and hides it from the C library.
  os::KernelSigaction now;
  ASSERT_EQ(os::signal_action(SIGUSR2, nullptr, &now), 0);
  EXPECT_EQ(owner, reinterpret_cast<std::uint64_t>(now.handler));
  std::signal(SIGUSR2, SIG_DFL);
}

TEST_F(SafeLoad, TakesItsOwnHandlerOverThatHadToStay) {
  std::uint64_t owner = 0;

  EXPECT_EQ(sampling::free_signal(), SIGPROF);
  EXPECT_EQ(sampling::install_handlers(SIGPROF, &owner), sampling::InstallError::kNone);
  sampling::restore_handlers();

  struct sigaction now {};
  sigaction(SIGPROF, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL) << "and knows what was there before the first time";
}

TEST_F(SafeLoad, RunsOnTheStackOfTheHandlerBefore) {
  const auto flags_of = [](int signal) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    return now.sa_flags;
  };
  EXPECT_EQ(flags_of(SIGSEGV) & SA_ONSTACK, 0);
  sampling::restore_handlers();

  struct sigaction other {};
  other.sa_handler = on_foreign_fault;
  other.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &other, nullptr);
  std::uint64_t owner = 0;
  ASSERT_EQ(sampling::install_handlers(SIGPROF, &owner), sampling::InstallError::kNone);
  EXPECT_NE(flags_of(SIGSEGV) & SA_ONSTACK, 0);
}

TEST_F(SafeLoad, ComesBackWhereItWasTakenOutOverItsHead) {
  struct sigaction ours {};
  struct sigaction before {};
  before.sa_handler = on_foreign_fault;
  ASSERT_EQ(sigaction(SIGSEGV, &before, &ours), 0);

  sampling::keep_fault_handlers();

  struct sigaction now {};
  sigaction(SIGSEGV, nullptr, &now);
  EXPECT_EQ(now.sa_sigaction, ours.sa_sigaction);
}

} // namespace
} // namespace jprof::agent
