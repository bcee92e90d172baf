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

using Code = std::vector<std::uint8_t>;

// The end of HotSpot's stub behind its call of thaw, as JDK 21 and 25 have it. As much stands
// before the call as is read before the first pc asked for: these loads are not protected.
constexpr std::size_t kCallReturn = 128;
const Code kTail{0x48, 0x8b, 0xd8,             // 0: mov %rax, %rbx
                 0xc5, 0xfb, 0x10, 0x04, 0x24, // 3: vmovsd (%rsp), %xmm0
                 0x48, 0x83, 0xc4, 0x10,       // 8: add $16, %rsp
                 0x58,                         // 12: pop %rax
                 0x48, 0x8b, 0xe3,             // 13: mov %rbx, %rsp
                 0x48, 0x83, 0xec, 0x10,       // 16: sub $16, %rsp
                 0x5d, 0xc3};                  // 20: pop %rbp; ret
const Code kWithException{
    0x48, 0x8b, 0xe3, 0x48, 0x83, 0xec, 0x10, 0x49, 0x8b, 0xff, // mov %r15, %rdi
    0x48, 0x8b, 0x74, 0x24, 0x08, 0x50, 0xe8, 1,    2,    3,
    4,    0x48, 0x8b, 0xd8, 0x58, 0x5d, 0x5a, 0xff, 0xe3};

Code stub_of(const Code& tail) {
  Code code(kCallReturn, 0x90);
  code.insert(code.end(), tail.begin(), tail.end());
  code.resize(code.size() + 128, 0x90);
  return code;
}

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

ThawState state_at(const Code& code, std::size_t offset) {
  return state_in_thaw_stub(address_of(code.data() + kCallReturn + offset));
}

TEST(ThawStub, HasItsFramesInMotionFromItsCallsReturnUntilItGoesThere) {
  const Code code = stub_of(kTail);
  for (const std::size_t offset : {0U, 3U, 8U, 12U, 13U}) {
    EXPECT_EQ(state_at(code, offset), ThawState::kMoving) << offset;
  }
  for (const std::size_t offset : {16U, 20U, 21U}) {
    EXPECT_EQ(state_at(code, offset), ThawState::kAfter) << offset;
  }
  EXPECT_EQ(state_at(code, std::size_t(0) - 40), ThawState::kBefore);
}

TEST(ThawStub, HasItsFramesInMotionWhileItLooksForAHandler) {
  const Code code = stub_of(kWithException);
  for (const std::size_t offset : {7U, 10U, 15U, 21U, 24U, 25U}) {
    EXPECT_EQ(state_at(code, offset), ThawState::kMoving) << offset;
  }
}

TEST(ThawStub, ReturnsIntoTheInnermostThawedFrame) {
  const Code code = stub_of(kTail);
  const std::array<std::uint64_t, 4> stack{0x10, 0x1111, 0x20,
                                           0x2222}; // frame pointer, pc; what follows
  struct Case {
    std::size_t offset;
    std::size_t sp; // words
  };
  for (const Case& at : {Case{16, 2}, Case{20, 0}, Case{21, 1}}) {
    Registers registers{.pc = address_of(code.data() + kCallReturn + at.offset),
                        .sp = address_of(stack.data() + at.sp),
                        .fp = 0x10};
    ASSERT_TRUE(leave_thaw_stub(registers)) << at.offset;
    EXPECT_EQ(registers.pc, 0x1111U) << at.offset;
    EXPECT_EQ(registers.fp, 0x10U) << at.offset;
    EXPECT_EQ(registers.sp, address_of(stack.data() + 2)) << at.offset;
  }
}

TEST(ThawStub, SaysWhereTheThreadKeepsItsEntry) {
  const Code code{0x90, 0x90, 0x49, 0x8b, 0xa7, 0x30, 0x05, 0, 0, 0x50};
  const std::uint64_t begin = address_of(code.data());
  EXPECT_EQ(entry_offset_in_thaw_stub(begin, begin + code.size()), 0x530);
  EXPECT_EQ(entry_offset_in_thaw_stub(begin, begin + 8), -1);
}

#endif

} // namespace
} // namespace jprof::agent::arch
