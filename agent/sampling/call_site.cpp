// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/call_site.h"

#include "agent/arch/safe_load.h"

namespace jprof::agent::sampling {
namespace {

using arch::load;

constexpr std::uint64_t kMaxScannedWords = 128;
constexpr std::uint64_t kMaxFunctionBytes = 16384;
constexpr std::uint64_t kMaxWrapperBytes = 384; // os::free has 240 of them before its jump to free
constexpr std::uint64_t kLinkageBytes = 16;     // of an entry in a linkage table
constexpr std::uint64_t kElsewhere = ~std::uint64_t{0};
constexpr std::uint64_t kSavedRegisters = 6; // rbx, rbp, r12 to r15
constexpr int kMaxJumps = 4;

// How far `pc` is into the function at `target`, or into the one that a jump there leads to, or
// into that jump; kElsewhere if it is in none of them.
std::uint64_t distance_into(std::uint64_t target, std::uint64_t pc) {
  std::uint64_t next = target;
  for (int jumps = 0; next != 0 && jumps <= kMaxJumps; ++jumps) {
    target = next;
    next = arch::jump_target(target);
    if (next != 0 && pc >= target && pc - target < kLinkageBytes) {
      return pc - target;
    }
  }
  return target != 0 && target <= pc && pc - target < kMaxFunctionBytes ? pc - target : kElsewhere;
}

// Like distance_into(), for the function that the one at `target` tail-calls.
std::uint64_t distance_behind(std::uint64_t target, std::uint64_t pc) {
  std::uint64_t nearest = kElsewhere;
  if (target == 0 || arch::jump_target(target) != 0) {
    return nearest;
  }
  for (std::uint64_t i = 0; i < kMaxWrapperBytes; i += arch::kMinInstructionBytes) {
    const std::uint64_t jump = arch::jump_target(target + i);
    const std::uint64_t distance = jump != 0 ? distance_into(jump, pc) : kElsewhere;
    nearest = distance < nearest ? distance : nearest;
  }
  return nearest;
}

// True if the frame record at `fp` may be the current one of the frames above `sp`, whose innermost
// is at `pc`: the call that it returns to leads to the code that holds the pc, as far as it names a
// target.
bool is_frame_record(const ModuleMap& modules, std::uint64_t fp, std::uint64_t pc,
                     std::uint64_t sp) {
  std::uint64_t caller = 0;
  std::uint64_t target = 0;
  if (!arch::may_be_frame_pointer(fp, sp) || !load(fp + 8, &caller)) {
    return false;
  }
  return modules.find(caller) != nullptr && arch::follows_call(caller, &target) &&
         (target == 0 || distance_into(target, pc) != kElsewhere);
}

// The stack word that is the return address into the caller of the code that holds the pc: of all
// candidates, the one whose call leads to the function that begins closest to the pc. 0: none.
template <typename Distance>
std::uint64_t find_call(const ModuleMap& modules, const arch::Registers& at, Distance distance) {
  std::uint64_t nearest = kElsewhere;
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < kMaxScannedWords; ++i) {
    const std::uint64_t slot = at.sp + i * 8;
    std::uint64_t pc = 0;
    std::uint64_t target = 0;
    if (!load(slot, &pc)) {
      break;
    }
    if (modules.find(pc) == nullptr || !arch::follows_call(pc, &target)) {
      continue;
    }
    if (const std::uint64_t bytes = distance(target, at.pc); bytes < nearest) {
      nearest = bytes;
      found = slot;
    }
  }
  return found;
}

} // namespace

bool leave_by_call_site(const ModuleMap& modules, arch::Registers& registers) {
  std::uint64_t target = 0;
  if (registers.lr != 0 && arch::follows_call(registers.lr, &target) &&
      (distance_into(target, registers.pc) != kElsewhere ||
       distance_behind(target, registers.pc) != kElsewhere)) {
    registers.pc = registers.lr;
    return true;
  }
  if (!arch::kCallPushesReturnAddress) {
    return false;
  }
  std::uint64_t slot = find_call(modules, registers, distance_into);
  if (slot == 0) {
    slot = find_call(modules, registers, distance_behind);
  }
  std::uint64_t pc = 0;
  if (slot == 0 || !load(slot, &pc)) {
    return false;
  }
  // The callee has saved the caller's frame pointer if it uses that register at all.
  const std::uint64_t sp = slot + 8;
  for (std::uint64_t saved = 1; saved <= kSavedRegisters; ++saved) {
    const std::uint64_t place = slot - saved * 8;
    std::uint64_t fp = 0;
    if (place >= registers.sp && load(place, &fp) && is_frame_record(modules, fp, pc, sp)) {
      registers.fp = fp;
      break;
    }
  }
  registers.pc = pc;
  registers.sp = sp;
  return true;
}

} // namespace jprof::agent::sampling
