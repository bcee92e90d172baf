// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/arch/arch.h"
#include "tests/unit/agent/protected_loads.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <ucontext.h>

namespace jprof::agent::arch {
namespace {

#ifdef __x86_64__
constexpr std::uint64_t kResumeFlag = 1U << 16;

bool faults_with(std::uint64_t pc, std::uint64_t destination, std::uint64_t flags) {
  ucontext_t context{};
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
  context.uc_mcontext.gregs[REG_RDI] = static_cast<greg_t>(destination);
  context.uc_mcontext.gregs[REG_EFL] = static_cast<greg_t>(flags | 0x246);
  return returns_from_page_fault(reinterpret_cast<std::uint64_t>(&context));
}

template <std::size_t N>
bool faults_at(const std::array<std::uint8_t, N>& code, std::uint64_t destination,
               std::uint64_t flags = kResumeFlag) {
  return faults_with(reinterpret_cast<std::uint64_t>(code.data()), destination, flags);
}

constexpr std::array<std::uint8_t, 4> kStore{0xc6, 0x00, 0x01, 0x90};            // movb $1, (%rax)
constexpr std::array<std::uint8_t, 4> kRepStore{0xf3, 0xaa, 0x90, 0x90};         // rep stosb
constexpr std::array<std::uint8_t, 4> kRepStoreWords{0xf3, 0x48, 0xab, 0x90};    // rep stosq
constexpr std::array<std::uint8_t, 4> kRepCopy{0xf3, 0xa4, 0x90, 0x90};          // rep movsb
constexpr std::array<std::uint8_t, 5> kScalarMove{0xf3, 0x0f, 0x11, 0x00, 0x90}; // movss

class PageFault : public sampling::ProtectedLoads {};

TEST_F(PageFault, IsToldByTheResumeFlag) {
  EXPECT_TRUE(faults_at(kStore, 0x12345));
  EXPECT_TRUE(faults_at(kScalarMove, 0x12345)) << "a prefix that repeats nothing here";
  EXPECT_FALSE(faults_at(kStore, 0x12345, 0)) << "an interrupt";
  EXPECT_TRUE(faults_with(8, 0x12345, kResumeFlag)) << "the code is not there";
}

// Where an interrupt in the middle of one sets the flag as well.
TEST_F(PageFault, InARepeatedInstructionIsAtTheBeginOfAPage) {
  for (const auto& code : {kRepStore, kRepStoreWords, kRepCopy}) {
    EXPECT_TRUE(faults_at(code, 0x12000));
    EXPECT_TRUE(faults_at(code, 0x1203f));
    EXPECT_TRUE(faults_at(code, 0x11fc0));
    EXPECT_FALSE(faults_at(code, 0x12040));
    EXPECT_FALSE(faults_at(code, 0x12800));
    EXPECT_FALSE(faults_at(code, 0x12000, 0));
  }
}
#else
TEST(PageFault, IsNotKnownHere) {
  const ucontext_t context{};
  EXPECT_FALSE(returns_from_page_fault(reinterpret_cast<std::uint64_t>(&context)));
}
#endif

} // namespace
} // namespace jprof::agent::arch
