// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/os/system.h"
#include "agent/sampling/stack_walker.h"
#include "tests/unit/agent/loaded_modules.h"
#include "tests/unit/agent/protected_loads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

// The linker's names for the section that at_work() lies in.
extern "C" {
extern const char __start_at_work[]; // NOLINT(bugprone-reserved-identifier)
extern const char __stop_at_work[];  // NOLINT(bugprone-reserved-identifier)
}

namespace jprof::agent::sampling {
namespace {

// SIGUSR1 has a handler of the program's, SIGUSR2 one that walks the stack, as a profiler's would.
struct Seen {
  const ModuleMap* modules = nullptr;
  bool raise_within = false;
  std::uint64_t pc = 0;
  WalkedStack walked;
  std::array<wire::Frame, 64> frames{};
} g_seen; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): handlers get no context

void on_programs_signal(int, siginfo_t*, void*) {
  if (g_seen.raise_within) {
    ::syscall(SYS_tkill, os::thread_id(), SIGUSR2);
  }
}

void walk_on_signal(int, siginfo_t*, void* context) {
  static const VmLayout vm;
  static const NameStore names{};
  const arch::Registers at = arch::read_registers(context);
  g_seen.pc = at.pc;
  StackWalker walker(vm, nullptr, *g_seen.modules, names, g_seen.frames.data(),
                     static_cast<std::uint32_t>(g_seen.frames.size()));
  g_seen.walked = walker.walk(at, 0);
}

// Raw system calls: a sanitizer's own would put off the handlers. By libc's function, which has a
// frame that can be unwound.
void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  os::KernelSigaction action;
  action.handler = reinterpret_cast<void*>(handler);
  action.flags = SA_SIGINFO;
  if (arch::signal_restorer() != nullptr) {
    action.flags |= 0x04000000; // SA_RESTORER
    action.restorer = arch::signal_restorer();
  }
  ASSERT_EQ(os::signal_action(signal, &action, nullptr), 0);
}

void change_mask(int how) {
  const std::uint64_t both = std::uint64_t{1} << (SIGUSR1 - 1) | std::uint64_t{1} << (SIGUSR2 - 1);
  ::syscall(SYS_rt_sigprocmask, how, &both, nullptr, sizeof both);
}

__attribute__((noinline, section("at_work"))) void at_work(bool both_at_once) {
  if (both_at_once) {
    change_mask(SIG_BLOCK);
    ::syscall(SYS_tkill, os::thread_id(), SIGUSR2);
  }
  ::syscall(SYS_tkill, os::thread_id(), SIGUSR1);
  if (both_at_once) {
    change_mask(SIG_UNBLOCK);
  }
}

class SignalFrame : public ProtectedLoads {
 protected:
  void SetUp() override {
    ProtectedLoads::SetUp();
    handle(SIGUSR1, on_programs_signal);
    handle(SIGUSR2, walk_on_signal);
    g_seen = Seen{};
    g_seen.modules = modules_.get();
  }
  void TearDown() override {
    std::signal(SIGUSR1, SIG_DFL);
    std::signal(SIGUSR2, SIG_DFL);
    ProtectedLoads::TearDown();
  }
  // Which frames lie there, the innermost is 0.
  static std::vector<std::uint32_t> frames_within(std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < g_seen.walked.depth; ++i) {
      const std::uint64_t pc = wire::frame_payload(g_seen.frames[i]);
      if (wire::frame_kind(g_seen.frames[i]) == wire::FrameKind::kNative && pc >= begin &&
          pc < end) {
        found.push_back(i);
      }
    }
    return found;
  }
  static std::vector<std::uint32_t> frames_at_work() {
    return frames_within(reinterpret_cast<std::uint64_t>(__start_at_work),
                         reinterpret_cast<std::uint64_t>(__stop_at_work));
  }

  std::unique_ptr<ModuleMap> modules_ = loaded_modules();
};

TEST_F(SignalFrame, IsWalkedThroughToWhatWasInterrupted) {
  g_seen.raise_within = true;
  at_work(false);

  EXPECT_EQ(g_seen.walked.error, wire::ErrorFrame::kNone);
  EXPECT_EQ(frames_at_work().size(), 1U);
}

// The kernel delivers pending signals one upon the other, before a handler's first instruction.
TEST_F(SignalFrame, OfAHandlerThatHasNotBegunIsNoPartOfTheStack) {
  at_work(true);

  const auto entry = reinterpret_cast<std::uint64_t>(on_programs_signal);
  ASSERT_EQ(g_seen.pc, entry);
  EXPECT_EQ(g_seen.walked.error, wire::ErrorFrame::kNone);
  EXPECT_TRUE(frames_within(entry, entry + 1).empty());
  EXPECT_EQ(frames_at_work().size(), 1U);
}

} // namespace
} // namespace jprof::agent::sampling
