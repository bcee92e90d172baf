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

using Code = std::vector<std::uint8_t>;

// Where code that was interrupted between `done` and `next` would return to: a frame of 32 bytes,
// in its prologue or behind it.
std::uint64_t caller_of(const Code& done, const Code& next, bool in_prologue) {
  constexpr std::size_t kBefore = 32;
  Code code(kBefore, 0x90); // nothing that ends a prologue
  code.insert(code.end(), done.begin(), done.end());
  const std::size_t at = code.size();
  code.insert(code.end(), next.begin(), next.end());
  code.resize(code.size() + 24, 0x90);
  const std::array<std::uint64_t, 4> stack{kReturnOnTop, 0, 0, kReturnOfFrame};
  const std::uint64_t pc = address_of(code.data() + at);
  const FixedFrameCode frame{address_of(code.data()), in_prologue ? pc + 1 : 0, sizeof stack};
  Registers registers{.pc = pc, .sp = address_of(stack.data())};
  EXPECT_TRUE(leave_fixed_frame(frame, true, registers));
  return registers.pc;
}

std::uint64_t caller_of(const Code& next) {
  return caller_of({}, next, false);
}

TEST(FixedFrame, ReturnsFromTheTopOfTheStackWhereItPollsBeforeItsEnd) {
  EXPECT_EQ(caller_of({0x4d, 0x8b, 0x5f, 0x10, 0x41, 0x85, 0x03, 0xc3}), kReturnOnTop);
  EXPECT_EQ(caller_of({0x4d, 0x8b, 0x9f, 0x30, 3, 0, 0, 0x41, 0x85, 0x03, 0xc3}), kReturnOnTop);
  EXPECT_EQ(caller_of({0x41, 0x85, 0x03, 0xc3}), kReturnOnTop);
  EXPECT_EQ(caller_of({0x41, 0x85, 0x02, 0xc3}), kReturnOnTop);
  EXPECT_EQ(caller_of({0xc3}), kReturnOnTop);
}

TEST(FixedFrame, StandsWhereALoopPolls) {
  EXPECT_EQ(caller_of({0x4d, 0x8b, 0x5f, 0x10, 0x41, 0x85, 0x03, 0x75}), kReturnOfFrame);
  EXPECT_EQ(caller_of({0x4d, 0x8b, 0x9f, 0x30, 3, 0, 0, 0x41, 0x85, 0x03, 0x75}), kReturnOfFrame);
  EXPECT_EQ(caller_of({0x41, 0x85, 0x03, 0x75}), kReturnOfFrame);
  EXPECT_EQ(caller_of({0x90}), kReturnOfFrame);
}

TEST(FixedFrame, HasBeenFreedWhereCodeJumpsToAStub) {
  const Code freed8 = {0x48, 0x83, 0xc4, 0x10, 0x5d};
  const Code freed32 = {0x48, 0x81, 0xc4, 0, 1, 0, 0, 0x5d};
  const Code jump = {0xe9, 1, 2, 3, 4};
  EXPECT_EQ(caller_of(freed8, jump, false), kReturnOnTop);
  EXPECT_EQ(caller_of(freed32, jump, false), kReturnOnTop);
  EXPECT_EQ(caller_of({}, jump, false), kReturnOfFrame);

  Code far = freed8;
  far.insert(far.end(), {0x49, 0xba, 1, 2, 3, 4, 5, 6, 7, 8}); // mov imm64, %r10
  EXPECT_EQ(caller_of(far, {0x41, 0xff, 0xe2}, false), kReturnOnTop);
  far.erase(far.begin(), far.begin() + 5);
  EXPECT_EQ(caller_of(far, {0x41, 0xff, 0xe2}, false), kReturnOfFrame);
}

TEST(FixedFrame, StandsInTheEntryBarrier) {
  const Code compare = {0x41, 0x81, 0x7f, 0x20, 1, 0, 0, 0};
  const Code compare32 = {0x41, 0x81, 0xbf, 0x20, 1, 0, 0, 1, 0, 0, 0};
  EXPECT_EQ(caller_of({0x55, 0x48, 0x83, 0xec, 0x10}, compare, true), kReturnOfFrame);
  EXPECT_EQ(caller_of({0x48, 0x89, 0x6c, 0x24, 0x10}, compare, true), kReturnOfFrame);
  EXPECT_EQ(caller_of({0x48, 0x89, 0xac, 0x24, 0, 1, 0, 0}, compare, true), kReturnOfFrame);
  EXPECT_EQ(caller_of(compare, {0x74, 0x05}, true), kReturnOfFrame);
  EXPECT_EQ(caller_of(compare32, {0x0f, 0x85, 1, 2, 3, 4}, true), kReturnOfFrame);
  EXPECT_EQ(caller_of({0x74, 0x05}, {0xe8, 1, 2, 3, 4}, true), kReturnOfFrame);
  EXPECT_EQ(caller_of({}, {0x55}, true), kReturnOnTop);
}

// C2's, as JDK 17 has made it.
class ExceptionStub : public testing::Test {
 protected:
  static constexpr std::uint64_t kPc = 0x3333; // of the exception, in rdx

  // Where it would return to from `offset`, or 0 where the frame stands; and the stack pointer's
  // move.
  std::uint64_t caller_at(std::size_t offset, std::uint64_t* moved) const {
    const std::array<std::uint64_t, 2> stack{kReturnOnTop, kReturnOfFrame};
    Registers registers{.pc = address_of(code_.data() + offset),
                        .sp = address_of(stack.data()),
                        .exception_pc = kPc};
    const bool left = leave_exception_stub(address_of(code_.data()), registers);
    *moved = registers.sp - address_of(stack.data());
    return left ? registers.pc : 0;
  }

  Code code_ = {0x52, 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24, 0x49, 0x89, 0x87, 0xd8, 0x03,
                0x00, 0x00, 0x49, 0x89, 0x97, 0xe0, 0x03, 0x00, 0x00, 0xc5, 0xf8, 0x77, 0x49, 0xba,
                0x17, 0xe2, 0xb9, 0xd6, 0xb1, 0x7f, 0x00, 0x00, 0xc5, 0xf8, 0x77, 0x48, 0x8b, 0x2c,
                0x24, 0x48, 0x83, 0xc4, 0x08, 0x5a, 0x4c, 0x8b, 0xc0, 0x49, 0x8b, 0x87, 0xd8, 0x03,
                0x00, 0x00, 0x49, 0x8b, 0x97, 0xe0, 0x03, 0x00, 0x00, 0x49, 0xc7, 0x87, 0xd8, 0x03,
                0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x41, 0xff, 0xe0};
};

TEST_F(ExceptionStub, HasItsCallerInARegisterOrOnTheStack) {
  std::uint64_t moved = 0;
  EXPECT_EQ(caller_at(0, &moved), kPc); // push %rdx
  EXPECT_EQ(moved, 0U);
  EXPECT_EQ(caller_at(1, &moved), kReturnOnTop); // sub $8, %rsp
  EXPECT_EQ(moved, 8U);
  EXPECT_EQ(caller_at(5, &moved), kReturnOfFrame); // mov %rbp, (%rsp)
  EXPECT_EQ(moved, 16U);
  for (const std::size_t offset : {9U, 16U, 26U, 39U, 43U}) {
    EXPECT_EQ(caller_at(offset, &moved), 0U) << offset;
  }
  EXPECT_EQ(caller_at(47, &moved), kReturnOnTop); // pop %rdx
  EXPECT_EQ(moved, 8U);
  for (const std::size_t offset : {48U, 51U, 58U, 65U, 76U}) {
    EXPECT_EQ(caller_at(offset, &moved), kPc) << offset;
    EXPECT_EQ(moved, 0U);
  }
}

#endif

} // namespace
} // namespace jprof::agent::arch
