// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/call_frame_info.h"
#include "agent/sampling/handler.h"
#include "agent/sampling/native_unwinder.h"
#include "tests/unit/agent/loaded_modules.h"
#include "tests/unit/agent/protected_loads.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ucontext.h>
#include <unwind.h>
#include <vector>

namespace jprof::agent::sampling {
namespace {

struct Stacks {
  std::vector<std::uint64_t> ours;
  std::vector<std::uint64_t> libgcc;
};
Stacks g_stacks; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): qsort hands no
                 // context to its callback
const ModuleMap* g_modules = nullptr;

__attribute__((noinline)) int capture(const void*, const void*) {
  if (!g_stacks.ours.empty()) {
    return 0;
  }
  // Not backtrace(): a sanitizer's interceptor would be one frame more.
  _Unwind_Backtrace(
      [](_Unwind_Context* frame, void*) {
        if (const std::uint64_t pc = _Unwind_GetIP(frame); pc != 0) { // 0: what follows _start
          g_stacks.libgcc.push_back(pc);
        }
        return _URC_NO_REASON;
      },
      nullptr);
  g_stacks.libgcc.erase(g_stacks.libgcc.begin()); // without this function itself
  ucontext_t context;
  getcontext(&context);
  arch::Registers registers = arch::read_registers(&context);
  for (bool interrupted = true; g_stacks.ours.size() < 64; interrupted = false) {
    if (leave_native(*g_modules, interrupted, registers) != NativeStep::kKnown) {
      break;
    }
    g_stacks.ours.push_back(registers.pc);
  }
  return 0;
}

// Through libc's qsort, which keeps no frame pointers, up to _start: as libgcc's unwinder sees it.
TEST(CallFrameInfo, UnwindsAsTheExceptionUnwinderDoes) {
  const auto modules = loaded_modules();
  g_modules = modules.get();
  int numbers[] = {2, 1};

  qsort(numbers, 2, sizeof(int), capture); // through the frames of libc

  ASSERT_GE(g_stacks.ours.size(), 6U);
  EXPECT_EQ(g_stacks.ours, g_stacks.libgcc);
}

TEST(CallFrameInfo, KnowsNothingOutsideOfFunctions) {
  const auto modules = loaded_modules();
  const std::uint64_t pc = modules->modules[0].begin - 1;
  arch::Registers registers;

  EXPECT_EQ(find_frame_rule(modules->modules[0], pc).base, FrameBase::kUnknown);
  EXPECT_EQ(find_frame_rule(CodeModule{}, pc).base, FrameBase::kUnknown);
  EXPECT_EQ(unwind_by_rule(FrameRule{}, registers), UnwindResult::kNoInformation);
}

// Damaged tables: whatever the bytes say, it ends, and without a fault.
TEST(CallFrameInfo, SurvivesGarbage) {
  std::uint64_t owner = 0;
  ASSERT_EQ(install_handlers(SIGPROF, &owner), InstallError::kNone); // loads may fault from here on
  std::vector<std::uint8_t> bytes(4096);
  std::uint32_t random = 12345;
  for (unsigned round = 0; round < 2000; ++round) {
    for (auto& byte : bytes) {
      random = random * 1664525 + 1013904223;
      byte = static_cast<std::uint8_t>(random >> 24);
    }
    const std::uint8_t header[] = {1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0, 1, 0,
                                   0, 0,    0,    8,    0, 0, 0, 1, 0, 0};
    std::copy(std::begin(header), std::end(header), bytes.begin());
    const std::uint8_t length[] = {static_cast<std::uint8_t>(round % 256), 0, 0, 0};
    std::copy(std::begin(length), std::end(length), bytes.begin() + 256);
    const auto base = reinterpret_cast<std::uint64_t>(bytes.data());
    arch::Registers registers{.pc = base + 2048 + round % 16, .sp = base + 1024, .fp = base + 1040};
    unwind_by_rule(find_frame_rule(CodeModule{base, base + 4096, base}, registers.pc), registers);
  }
  restore_handlers();
}

} // namespace
} // namespace jprof::agent::sampling
