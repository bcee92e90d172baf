// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/call_site.h"
#include "agent/sampling/native_unwinder.h"
#include "tests/unit/agent/protected_loads.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

namespace jprof::agent::sampling {
namespace {

#ifdef __x86_64__

constexpr std::size_t kCaller = 0x100; // places of functions in the code
constexpr std::size_t kLinkage = 0x400;
constexpr std::size_t kFunction = 0x800;
constexpr std::size_t kOther = 0x1000;
constexpr std::size_t kWrapper = 0x2000;

// A module without tables, and a stack in which its functions have called each other.
class CallSite : public ProtectedLoads {
 protected:
  CallSite() {
    map_->count = 1;
    map_->modules[0] = {at(0), at(0) + code_.size(), 0};
  }

  std::uint64_t at(std::size_t place) const {
    return reinterpret_cast<std::uint64_t>(code_.data()) + place;
  }
  std::uint64_t slot(std::size_t word) const {
    return reinterpret_cast<std::uint64_t>(stack_.data() + word);
  }
  // `opcode` at `place`, to `target` by a distance of 32 bits; gives where it ends.
  std::uint64_t branch(std::size_t place, std::initializer_list<std::uint8_t> opcode,
                       std::size_t target) {
    std::memcpy(code_.data() + place, opcode.begin(), opcode.size());
    const std::size_t end = place + opcode.size() + 4;
    const auto distance = static_cast<std::int32_t>(target) - static_cast<std::int32_t>(end);
    std::memcpy(code_.data() + end - 4, &distance, sizeof distance);
    return at(end);
  }
  std::uint64_t call(std::size_t place, std::size_t target) {
    return branch(place, {0xe8}, target);
  }
  arch::Registers interrupted() const {
    return {.pc = at(kFunction) + 0x30, .sp = slot(0), .fp = 0x1234};
  }

  std::vector<std::uint8_t> code_ = std::vector<std::uint8_t>(0x9000, 0x90);
  std::array<std::uint64_t, 256> stack_{};
  std::unique_ptr<ModuleMap> map_ = std::make_unique<ModuleMap>();
};

TEST_F(CallSite, IsBehindTheFirstWordThatSaysSo) {
  stack_[3] = call(kCaller, kFunction);
  arch::Registers registers = interrupted();
  ASSERT_TRUE(leave_by_call_site(*map_, registers));
  EXPECT_EQ(registers.pc, stack_[3]);
  EXPECT_EQ(registers.sp, slot(4));
  EXPECT_EQ(registers.fp, 0x1234U); // saved nowhere
}

TEST_F(CallSite, IsNotAStaleReturnAddressOfAnotherFunction) {
  stack_[1] = call(kCaller + 0x20, kOther);
  stack_[2] = call(kCaller + 0x40, kCaller); // begins before the pc, but farther away
  stack_[3] = call(kCaller, kFunction);
  arch::Registers registers = interrupted();
  ASSERT_TRUE(leave_by_call_site(*map_, registers));
  EXPECT_EQ(registers.pc, stack_[3]);
}

TEST_F(CallSite, LeadsThroughLinkageTables) {
  const std::uint64_t target = at(kFunction);
  std::memcpy(code_.data() + 0x700, &target, sizeof target);
  branch(kLinkage, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25}, 0x700);
  for (const std::uint64_t pc :
       {call(kCaller, kLinkage), branch(kCaller + 0x10, {0xff, 0x15}, 0x700)}) {
    stack_[2] = pc;
    arch::Registers registers = interrupted();
    ASSERT_TRUE(leave_by_call_site(*map_, registers));
    EXPECT_EQ(registers.pc, pc);
  }
}

TEST_F(CallSite, LeadsIntoTheLinkageTableItself) {
  const std::uint64_t target = at(kFunction);
  std::memcpy(code_.data() + 0x700, &target, sizeof target);
  branch(kLinkage, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25}, 0x700);
  stack_[0] = call(kCaller, kLinkage);
  arch::Registers registers = interrupted();
  registers.pc = at(kLinkage) + 4;
  ASSERT_TRUE(leave_by_call_site(*map_, registers));
  EXPECT_EQ(registers.pc, stack_[0]);
  EXPECT_EQ(registers.sp, slot(1));
}

TEST_F(CallSite, LeadsThroughACallInAnothersPlace) {
  branch(kWrapper + 200, {0xe9}, kFunction);
  stack_[1] = call(kCaller, kWrapper);
  arch::Registers registers = interrupted();
  ASSERT_TRUE(leave_by_call_site(*map_, registers));
  EXPECT_EQ(registers.pc, stack_[1]);
}

TEST_F(CallSite, RestoresTheFramePointerThatTheCalleeSaved) {
  stack_[9] = call(kOther, kCaller); // the caller's own frame record: words 8 and 9
  stack_[3] = 77;                    // pushed first
  stack_[2] = slot(8);
  stack_[1] = slot(6); // stale: what is there returns nowhere
  stack_[4] = call(kCaller, kFunction);
  arch::Registers registers = interrupted();
  ASSERT_TRUE(leave_by_call_site(*map_, registers));
  EXPECT_EQ(registers.fp, slot(8));
}

TEST_F(CallSite, IsNotGuessed) {
  arch::Registers registers = interrupted();
  stack_[0] = call(kCaller, kOther);
  stack_[1] = at(kFunction + 0x20); // follows no call
  EXPECT_FALSE(leave_by_call_site(*map_, registers));
  EXPECT_EQ(registers.pc, interrupted().pc);
  EXPECT_EQ(leave_native(*map_, true, registers), NativeStep::kNone);
  registers.fp = 0; // what starts a thread leaves it so
  EXPECT_EQ(leave_native(*map_, false, registers), NativeStep::kOutermost);
  EXPECT_EQ(leave_native(*map_, true, registers), NativeStep::kNone);
}

#endif

} // namespace
} // namespace jprof::agent::sampling
