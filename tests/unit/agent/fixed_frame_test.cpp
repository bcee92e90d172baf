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
constexpr std::uint64_t kBelow = 0x3333; // where the stack pointer was
constexpr std::uint64_t kSavedPointer = 0x4444;
constexpr std::uint64_t kPointerInRegister = 0x5555;

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

using Code = std::vector<std::uint8_t>;

// The caller of code that was interrupted between `done` and `next`: a frame of 32 bytes, in its
// prologue or behind it.
Registers leave(const Code& done, const Code& next, bool in_prologue) {
  constexpr std::size_t kBefore = 32;
  Code code(kBefore, 0xf4); // nothing that ends a prologue
  code.insert(code.end(), done.begin(), done.end());
  const std::size_t at = code.size();
  code.insert(code.end(), next.begin(), next.end());
  code.resize(code.size() + 24, 0x90);
  const std::array<std::uint64_t, 5> stack{kBelow, kReturnOnTop, 0, kSavedPointer, kReturnOfFrame};
  const std::uint64_t pc = address_of(code.data() + at);
  const FixedFrameCode frame{address_of(code.data()), in_prologue ? pc + 1 : 0, 32};
  Registers registers{.pc = pc, .sp = address_of(stack.data() + 1), .fp = kPointerInRegister};
  EXPECT_TRUE(leave_fixed_frame(frame, true, registers));
  return registers;
}

std::uint64_t caller_of(const Code& done, const Code& next, bool in_prologue) {
  return leave(done, next, in_prologue).pc;
}

std::uint64_t frame_pointer_of(const Code& prologue) {
  return leave(prologue, {0x90}, true).fp;
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

// To align the barrier's comparison the assembler puts a nop before it.
TEST(FixedFrame, StandsBehindTheNopThatAlignsTheEntryBarrier) {
  const Code compare = {0x41, 0x81, 0x7f, 0x20, 1, 0, 0, 0};
  const std::vector<Code> nops = {{0x90},
                                  {0x66, 0x90},
                                  {0x0f, 0x1f, 0x00},
                                  {0x66, 0x66, 0x90},
                                  {0x0f, 0x1f, 0x40, 0},
                                  {0x0f, 0x1f, 0x44, 0, 0},
                                  {0x66, 0x0f, 0x1f, 0x44, 0, 0},
                                  {0x0f, 0x1f, 0x80, 0, 0, 0, 0}};
  for (const Code& nop : nops) {
    for (Code done :
         {Code{0x55, 0x48, 0x83, 0xec, 0x10}, Code{0x55, 0x48, 0x81, 0xec, 0x90, 0, 0, 0},
          Code{0x48, 0x83, 0xec, 0x20}, Code{0x48, 0x89, 0x6c, 0x24, 0x10},
          Code{0x48, 0x89, 0xac, 0x24, 0x90, 0, 0, 0}}) {
      done.insert(done.end(), nop.begin(), nop.end());
      EXPECT_EQ(caller_of(done, compare, true), kReturnOfFrame) << nop.size();
    }
    EXPECT_EQ(caller_of(nop, compare, true), kReturnOnTop) << nop.size();
  }
}

// With a frame pointer of its own the register no longer has the caller's, but the frame has it.
TEST(FixedFrame, HasSavedTheFramePointerThatItHasPushed) {
  EXPECT_EQ(frame_pointer_of({0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x10}), kSavedPointer);
  EXPECT_EQ(frame_pointer_of({0x55, 0x48, 0x8b, 0xec, 0x48, 0x81, 0xec, 0x90, 0, 0, 0}),
            kSavedPointer);
  EXPECT_EQ(frame_pointer_of({0x55, 0x48, 0x83, 0xec, 0x10}), kSavedPointer);
  EXPECT_EQ(frame_pointer_of({0x48, 0x83, 0xec, 0x20}), kPointerInRegister);
}

TEST(FixedFrame, HasBeenLeftWhereANativeMethodsWrapperLooksForAnException) {
  const Code compares[] = {{0x49, 0x81, 0x7f, 8, 0, 0, 0, 0}, {0x49, 0x83, 0x7f, 8, 0}};
  const Code jumps[] = {{0x0f, 0x85, 1, 2, 3, 4}, {0x75, 1}};
  for (const Code& compare : compares) {
    for (const Code& jump : jumps) {
      Code next = compare;
      next.insert(next.end(), jump.begin(), jump.end());
      EXPECT_EQ(caller_of(next), kReturnOfFrame); // something else follows
      next.push_back(0xc3);
      EXPECT_EQ(caller_of(next), kReturnOnTop);

      next.assign(jump.begin(), jump.end());
      next.push_back(0xc3);
      EXPECT_EQ(caller_of(compare, next, false), kReturnOnTop);
      EXPECT_EQ(caller_of({}, next, false), kReturnOfFrame);
    }
  }
}

TEST(FixedFrame, HasBeenLeftWhereANativeMethodsWrapperPollsForTheLastTime) {
  const Code polls[] = {{0x41, 0xf6, 0x87, 0x30, 3, 0, 0, 1}, {0x41, 0xf6, 0x47, 0x30, 1}};
  for (const Code& poll : polls) {
    EXPECT_EQ(caller_of({0xc9}, poll, false), kReturnOnTop);
    EXPECT_EQ(caller_of({}, poll, false), kReturnOfFrame);
    Code done = {0xc9};
    done.insert(done.end(), poll.begin(), poll.end());
    EXPECT_EQ(caller_of(done, {0x74, 22}, false), kReturnOnTop);
    EXPECT_EQ(caller_of(poll, {0x74, 22}, false), kReturnOfFrame);
  }
}

TEST(FixedFrame, HasBeenLeftWhereAStubJumpsToTheHandlerThatItHasTakenOffTheStack) {
  EXPECT_EQ(caller_of({0xc9}, {0x59, 0xff, 0xe1}, false), kReturnOnTop);
  EXPECT_EQ(caller_of({0xc9, 0x59}, {0xff, 0xe1}, false), kBelow);
  EXPECT_EQ(caller_of({}, {0xff, 0xe1}, false), kReturnOfFrame);
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
