// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/arch/arch.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace jprof::agent::arch {
namespace {

#ifdef __x86_64__

constexpr std::uint64_t kReturnOnTop = 0x1111;
constexpr std::uint64_t kReturnOfFrame = 0x2222;

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

// Where code that was interrupted at `instructions` would return to: a frame of 32 bytes.
std::uint64_t caller_of(const std::vector<std::uint8_t>& instructions) {
  std::vector<std::uint8_t> code(8, 0x90); // nothing that ends a prologue
  code.insert(code.end(), instructions.begin(), instructions.end());
  code.resize(code.size() + 24, 0x90);
  const std::array<std::uint64_t, 4> stack{kReturnOnTop, 0, 0, kReturnOfFrame};
  const FixedFrameCode frame{address_of(code.data()), 0, sizeof stack};
  Registers registers{.pc = address_of(code.data() + 8), .sp = address_of(stack.data())};
  EXPECT_TRUE(leave_fixed_frame(frame, true, registers));
  return registers.pc;
}

TEST(FixedFrame, ReturnsFromTheTopOfTheStackWhereItPollsBeforeItsEnd) {
  EXPECT_EQ(caller_of({0x4d, 0x8b, 0x5f, 0x10, 0x41, 0x85, 0x03, 0xc3}), kReturnOnTop);
  EXPECT_EQ(caller_of({0x4d, 0x8b, 0x9f, 0x30, 3, 0, 0, 0x41, 0x85, 0x03, 0xc3}), kReturnOnTop);
  EXPECT_EQ(caller_of({0x41, 0x85, 0x03, 0xc3}), kReturnOnTop);
  EXPECT_EQ(caller_of({0xc3}), kReturnOnTop);
}

TEST(FixedFrame, StandsWhereALoopPolls) {
  EXPECT_EQ(caller_of({0x4d, 0x8b, 0x5f, 0x10, 0x41, 0x85, 0x03, 0x75}), kReturnOfFrame);
  EXPECT_EQ(caller_of({0x4d, 0x8b, 0x9f, 0x30, 3, 0, 0, 0x41, 0x85, 0x03, 0x75}), kReturnOfFrame);
  EXPECT_EQ(caller_of({0x41, 0x85, 0x03, 0x75}), kReturnOfFrame);
  EXPECT_EQ(caller_of({0x90}), kReturnOfFrame);
}

#endif

} // namespace
} // namespace jprof::agent::arch
