// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What the instructions around a pc say about calls and frames on x86-64.
#include "agent/arch/arch.h"
#include "agent/arch/safe_load.h"

#include <cstddef>
#include <ucontext.h>

namespace jprof::agent::arch {
namespace {

bool matches(const std::uint8_t* code, std::uint8_t a, std::uint8_t b, std::uint8_t c) {
  return code[0] == a && code[1] == b && code[2] == c;
}

// The address at a 32-bit distance from `pc`.
std::uint64_t relative_to(std::uint64_t pc, const std::uint8_t* distance) {
  std::int32_t bytes = 0;
  __builtin_memcpy(&bytes, distance, sizeof bytes);
  return pc + static_cast<std::uint64_t>(std::int64_t{bytes});
}

// Where the return address is, seen from an interrupted instruction.
enum class FrameState {
  kWhole,
  kReturnOnTop,
  kFramePointerOnTop,
  kFramePointerNotSaved,
  kReturnPopped, // for a jump; still below the stack pointer
};

// The wrapper of a native method frees its frame with `leave`, checks for an exception and returns:
// `cmp $0, 8(%r15); jne forward; ret`, the number in 32 bits or in 8 (generate_native_wrapper of
// sharedRuntime_x86_64.cpp; all releases keep a thread's pending exception at 8). Since 25 it polls
// in between: `testb $1, poll(%r15); je over`.
bool compares_exception(const std::uint8_t* code, std::uint8_t opcode) {
  return matches(code, 0x49, opcode, 0x7f) && code[3] == 8;
}
bool jumps_before_return(const std::uint8_t* code) {
  return (code[0] == 0x0f && code[1] == 0x85 && code[6] == 0xc3) ||
         (code[0] == 0x75 && code[2] == 0xc3);
}
bool polls_behind_leave(const std::uint8_t* code) {
  return code[-1] == 0xc9 && code[0] == 0x41 && code[1] == 0xf6 &&
         (code[2] == 0x47 || code[2] == 0x87);
}
bool leaves_wrapper(const std::uint8_t* code) {
  constexpr std::uint8_t kCompare32 = 0x81;
  constexpr std::uint8_t kCompare8 = 0x83;
  if (compares_exception(code, kCompare32)) {
    return jumps_before_return(code + 8);
  }
  if (compares_exception(code, kCompare8)) {
    return jumps_before_return(code + 5);
  }
  if (jumps_before_return(code)) {
    return compares_exception(code - 8, kCompare32) || compares_exception(code - 5, kCompare8);
  }
  return polls_behind_leave(code) ||
         (code[0] == 0x74 && (polls_behind_leave(code - 5) || polls_behind_leave(code - 8)));
}

// After `pop %rbp` HotSpot emits nothing but a safepoint poll and `ret`:
//   8-15   test %eax, poll(%rip) | mov poll(%r15), %r11; test %eax, (%r11) (C1: %r10)
//   16+    cmp poll(%r15), %rsp; ja slow
// (macroAssembler_x86.cpp and x86_64.ad, MachEpilogNode, of each release).
FrameState state_in_body(const std::uint8_t* code) {
  if (code[0] == 0xc3) {
    return FrameState::kReturnOnTop;
  }
  if (code[0] == 0x5d) {
    return FrameState::kFramePointerOnTop;
  }
  // C1's handle_exception_from_callee: leave; pop %rcx; jmp *%rcx
  if (matches(code, 0x59, 0xff, 0xe1)) {
    return FrameState::kReturnOnTop;
  }
  if (matches(code - 1, 0x59, 0xff, 0xe1)) {
    return FrameState::kReturnPopped;
  }
  const bool poll_rip = code[0] == 0x85 && code[1] == 0x05 && code[6] == 0xc3;
  const bool polls = matches(code, 0x41, 0x85, 0x03) || matches(code, 0x41, 0x85, 0x02); // C1: r10
  const bool poll_register = polls && code[3] == 0xc3;
  // Only with the `ret`: loops poll in the same way, and there the frame exists.
  const bool poll_load =
      (matches(code, 0x4d, 0x8b, 0x5f) && matches(code + 4, 0x41, 0x85, 0x03) && code[7] == 0xc3) ||
      (matches(code, 0x4d, 0x8b, 0x9f) && matches(code + 7, 0x41, 0x85, 0x03) && code[10] == 0xc3);
  const bool poll_sp = (matches(code, 0x49, 0x3b, 0x67) && code[4] == 0x0f && code[5] == 0x87) ||
                       (matches(code, 0x49, 0x3b, 0xa7) && code[7] == 0x0f && code[8] == 0x87);
  const bool poll_jump = code[0] == 0x0f && code[1] == 0x87 && code[6] == 0xc3;
  const bool poll = poll_rip || poll_register || poll_load || poll_sp || poll_jump;
  return poll || leaves_wrapper(code) ? FrameState::kReturnOnTop : FrameState::kWhole;
}

// True if an entry barrier ends before `code`, or one of its instructions. From 14 on some
// collectors have compiled methods begin with `cmp $n, disp(%r15); je over; call stub; over:` (C1,
// and C2 up to 20) or `cmp $n, disp(%r15); jne stub` (BarrierSetAssembler::nmethod_entry_barrier).
bool follows_barrier(const std::uint8_t* code) {
  const bool compared = matches(code - 8, 0x41, 0x81, 0x7f) || matches(code - 11, 0x41, 0x81, 0xbf);
  return compared || (code[-2] == 0x74 && code[-1] == 0x05);
}

// `push %rbp; mov %rsp, %rbp` ends at `end`.
bool is_pointer_set(const std::uint8_t* end) {
  return end[-4] == 0x55 && matches(end - 3, 0x48, 0x8b, 0xec);
}

// Bytes of the one `nop` that ends at `end`, as far as it aligns a barrier's comparison to four or
// eight bytes (Assembler::nop, with address nops); 0 if there is none.
std::size_t nop_bytes(const std::uint8_t* end) {
  constexpr std::uint8_t kLong[] = {0x0f, 0x1f, 0x80, 0, 0, 0, 0};
  constexpr std::uint8_t kWord[] = {0x66, 0x0f, 0x1f, 0x44, 0, 0};
  constexpr std::uint8_t kByte[] = {0x0f, 0x1f, 0x40, 0};
  if (__builtin_memcmp(end - sizeof kLong, kLong, sizeof kLong) == 0) {
    return sizeof kLong;
  }
  if (__builtin_memcmp(end - 5, kWord + 1, 5) == 0) {
    return end[-6] == kWord[0] ? 6 : 5;
  }
  if (__builtin_memcmp(end - sizeof kByte, kByte, sizeof kByte) == 0) {
    return sizeof kByte;
  }
  if (matches(end - 3, 0x0f, 0x1f, 0x00)) {
    return 3;
  }
  if (end[-1] != 0x90) {
    return 0;
  }
  return matches(end - 3, 0x66, 0x66, 0x90) ? 3 : end[-2] == 0x66 ? 2 : 1;
}

// The prologue is [stack bang] `push %rbp; [mov %rsp, %rbp;] sub $n, %rsp`, or, for small frames of
// C2, `sub $n, %rsp; mov %rbp, n-8(%rsp)` (macroAssembler_x86.cpp, verified_entry), and the
// barrier.
FrameState state_in_prologue(const std::uint8_t* code) {
  if (follows_barrier(code)) {
    return FrameState::kWhole;
  }
  code -= nop_bytes(code);
  const bool sub8 = matches(code - 4, 0x48, 0x83, 0xec);
  if (sub8 || matches(code - 7, 0x48, 0x81, 0xec)) {
    const std::uint8_t* sub = code - (sub8 ? 4 : 7);
    return sub[-1] == 0x55 || is_pointer_set(sub) ? FrameState::kWhole
                                                  : FrameState::kFramePointerNotSaved;
  }
  const bool after_save = (matches(code - 5, 0x48, 0x89, 0x6c) && code[-2] == 0x24) ||
                          (matches(code - 8, 0x48, 0x89, 0xac) && code[-5] == 0x24);
  if (after_save) {
    return FrameState::kWhole;
  }
  return code[-1] == 0x55 || is_pointer_set(code) ? FrameState::kFramePointerOnTop
                                                  : FrameState::kReturnOnTop;
}

// `add $n, %rsp; pop %rbp` end here.
bool frees_frame(const std::uint8_t* end) {
  return end[-1] == 0x5d &&
         (matches(end - 5, 0x48, 0x83, 0xc4) || matches(end - 8, 0x48, 0x81, 0xc4));
}

// Compiled code that leaves a method with an exception frees the frame and jumps to a stub that
// pops the return address off the stack: jmp rel32, or mov imm64, %r10; jmp *%r10.
bool jumps_out(const std::uint8_t* code) {
  const bool from_r10 = matches(code, 0x41, 0xff, 0xe2) && code[-10] == 0x49 && code[-9] == 0xba;
  return frees_frame(from_r10 ? code - 10 : code);
}

FrameState frame_state(const FixedFrameCode& code, std::uint64_t pc) {
  constexpr std::size_t kBefore = 18; // as many as jumps_out() and state_in_prologue() read
  std::uint8_t bytes[kBefore + 16] = {};
  if (!copy(bytes, pc - kBefore, sizeof bytes)) {
    return FrameState::kWhole;
  }
  const std::uint8_t* here = bytes + kBefore;
  if (code.frame_complete != 0 && pc < code.frame_complete) {
    return pc == code.begin ? FrameState::kReturnOnTop : state_in_prologue(here);
  }
  return jumps_out(here) ? FrameState::kReturnOnTop : state_in_body(here);
}

std::uint64_t saved_register(std::uint64_t ucontext, int which) {
  return word_at(ucontext + offsetof(ucontext_t, uc_mcontext.gregs) +
                 static_cast<std::uint64_t>(which) * sizeof(greg_t));
}

} // namespace

bool follows_system_call(std::uint64_t pc) {
  std::uint16_t instruction = 0;
  return load(pc - 2, &instruction) && instruction == 0x050f;
}

// The processor sets the resume flag in what it saves for a fault, so that a debugger's breakpoint
// at the same instruction does not stop it twice, and clears it for interrupts (Intel's manual,
// volume 3, 18.3.1.1). Only Intel's also set it where an interrupt comes in the middle of a
// repeated string instruction; a page fault in one finds it at the first bytes of a page, or about
// to reach them by a block of 64.
bool returns_from_page_fault(std::uint64_t ucontext) {
  constexpr std::uint64_t kResumeFlag = 1U << 16;
  if ((saved_register(ucontext, REG_EFL) & kResumeFlag) == 0) {
    return false;
  }
  std::uint8_t code[3] = {};
  if (!copy(code, saved_register(ucontext, REG_RIP), sizeof code)) {
    return true; // it is the fetch of the instruction that faults
  }
  constexpr std::uint64_t kPageBytes = 4096;
  constexpr std::uint64_t kBlockBytes = 64;
  const bool repeats = (code[0] & 0xfe) == 0xf2;                 // rep, repne
  const std::uint8_t opcode = (code[1] & 0xf0) == 0x40 ? code[2] // REX prefix
                                                       : code[1];
  const bool is_string = (opcode & 0xfc) == 0xa4 || (opcode >= 0xaa && opcode <= 0xaf);
  return !repeats || !is_string ||
         (saved_register(ucontext, REG_RDI) + kBlockBytes) % kPageBytes < 2 * kBlockBytes;
}

bool follows_call(std::uint64_t return_address, std::uint64_t* target) {
  std::uint8_t code[13] = {};
  *target = 0;
  if (!copy(code, return_address - sizeof code, sizeof code)) {
    return false;
  }
  if (code[8] == 0xe8) { // call rel32
    *target = relative_to(return_address, code + 9);
    return true;
  }
  if (matches(code + 10, 0x41, 0xff, 0xd2)) { // call *%r10, usually after mov imm64, %r10
    if (code[0] == 0x49 && code[1] == 0xba) {
      __builtin_memcpy(target, code + 2, sizeof *target);
    }
    return true;
  }
  if (code[7] == 0xff && code[8] == 0x15) { // call *rel32(%rip)
    load(relative_to(return_address, code + 9), target);
    return true;
  }
  const bool by_register = code[11] == 0xff && (code[12] & 0xf8) == 0xd0;
  const bool by_memory8 = code[10] == 0xff && (code[11] & 0xf8) == 0x50;
  const bool by_memory32 = code[7] == 0xff && (code[8] & 0xf8) == 0x90;
  return by_register || by_memory8 || by_memory32;
}

std::uint64_t jump_target(std::uint64_t pc) {
  std::uint8_t code[11] = {};
  if (!copy(code, pc, sizeof code)) {
    return 0;
  }
  std::uint64_t skipped = matches(code, 0xf3, 0x0f, 0x1e) && code[3] == 0xfa ? 4 : 0; // endbr64
  skipped += code[skipped] == 0xf2 ? 1 : 0;                                           // bnd
  const std::uint8_t* jump = code + skipped;
  if (jump[0] == 0xe9) { // jmp rel32
    return relative_to(pc + skipped + 5, jump + 1);
  }
  std::uint64_t target = 0;
  if (jump[0] == 0xff && jump[1] == 0x25) { // jmp *rel32(%rip)
    load(relative_to(pc + skipped + 6, jump + 2), &target);
  }
  return target;
}

std::uint64_t strip_return_address(std::uint64_t address) {
  return address;
}

bool leave_fixed_frame(const FixedFrameCode& code, bool interrupted, Registers& registers) {
  const FrameState state = interrupted ? frame_state(code, registers.pc) : FrameState::kWhole;
  if (state == FrameState::kReturnOnTop) {
    return leave_frameless(registers);
  }
  if (state == FrameState::kReturnPopped) {
    return load(registers.sp - 8, &registers.pc);
  }
  if (state == FrameState::kFramePointerOnTop) {
    const std::uint64_t sp = registers.sp;
    if (!load(sp + 8, &registers.pc) || !load(sp, &registers.fp)) {
      return false;
    }
    registers.sp = sp + 16;
    return true;
  }
  const std::uint64_t caller_sp = registers.sp + code.frame_bytes;
  if (!load(caller_sp - 8, &registers.pc)) {
    return false;
  }
  if (state == FrameState::kWhole && !load(caller_sp - 16, &registers.fp)) {
    return false;
  }
  registers.sp = caller_sp;
  return true;
}

// push %rdx; sub $8, %rsp; mov %rbp, (%rsp) ... mov (%rsp), %rbp; add $8, %rsp; pop %rdx ... jmp
// *%r8, the same in 8 to 25.
bool leave_exception_stub(std::uint64_t begin, Registers& registers) {
  constexpr std::uint64_t kTailBytes = 40; // from the `add` to the `jmp`: 36
  const std::uint64_t offset = registers.pc - begin;
  if (offset == 1) {
    return leave_frameless(registers);
  }
  if (offset == 5) { // rbp is not saved yet
    registers.sp += 8;
    return leave_frameless(registers);
  }
  std::uint8_t code[kTailBytes + 1] = {}; // before pc, and the byte at it
  bool popped = offset == 0;
  if (!popped && (offset < kTailBytes || !copy(code, registers.pc - kTailBytes, sizeof code))) {
    return false;
  }
  for (std::uint64_t i = 0; !popped && i + 5 <= sizeof code; ++i) {
    if (matches(code + i, 0x48, 0x83, 0xc4) && code[i + 4] == 0x5a) {
      if (i + 4 == kTailBytes) {
        return leave_frameless(registers);
      }
      popped = true;
    }
  }
  registers.pc = registers.exception_pc;
  return popped;
}

// ...; call thaw; ...; mov %rbx, %rsp; sub $16, %rsp; pop %rbp; ret, the same in 21 to 25; to
// continue with an exception it makes one more call in between, after mov %r15, %rdi.
ThawState state_in_thaw_stub(std::uint64_t pc) {
  constexpr std::uint8_t kSwitch[] = {0x48, 0x8b, 0xe3, 0x48, 0x83, 0xec, 0x10}; // mov; sub
  constexpr std::size_t kBefore = 64; // from the switch to the jump, with an exception: 52
  constexpr std::size_t kAhead = 24;  // from the return of the call to the switch: 17
  std::uint8_t code[kBefore + kAhead + sizeof kSwitch] = {};
  if (!copy(code, pc - kBefore, sizeof code)) {
    return ThawState::kBefore;
  }
  const std::uint8_t* here = code + kBefore;
  const bool at_pop = here[0] == 0x5d && here[1] == 0xc3;
  if (at_pop || (here[0] == 0xc3 && here[-1] == 0x5d) ||
      (__builtin_memcmp(here, kSwitch + 3, 4) == 0 && here[4] == 0x5d)) {
    return ThawState::kAfter;
  }
  for (std::size_t i = 0; i + sizeof kSwitch + 3 <= sizeof code; ++i) {
    const std::uint8_t* end = code + i + sizeof kSwitch;
    if (__builtin_memcmp(code + i, kSwitch, sizeof kSwitch) == 0 &&
        (i >= kBefore || matches(end, 0x49, 0x8b, 0xff))) {
      return ThawState::kMoving;
    }
  }
  return ThawState::kBefore;
}

bool leave_thaw_stub(Registers& registers) {
  std::uint8_t code = 0;
  if (!load(registers.pc, &code)) {
    return false;
  }
  if (code == 0xc3) {
    return leave_frameless(registers);
  }
  const std::uint64_t place = code == 0x5d ? registers.sp : registers.sp - 16;
  registers.sp = place + 16;
  return load(place + 8, &registers.pc) && load(place, &registers.fp);
}

// mov offset(%r15), %rsp
std::int32_t entry_offset_in_thaw_stub(std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t at = begin; at + 7 <= end; ++at) {
    std::uint8_t code[7] = {};
    if (!copy(code, at, sizeof code)) {
      return -1;
    }
    if (matches(code, 0x49, 0x8b, 0xa7)) {
      std::int32_t offset = 0;
      __builtin_memcpy(&offset, code + 3, sizeof offset);
      return offset;
    }
  }
  return -1;
}

bool leave_frameless(Registers& registers) {
  if (!load(registers.sp, &registers.pc)) {
    return false;
  }
  registers.sp += 8;
  return true;
}

bool leave_by_frame_pointer(Registers& registers) {
  const std::uint64_t fp = registers.fp;
  if (!load(fp + 8, &registers.pc) || !load(fp, &registers.fp)) {
    return false;
  }
  registers.sp = fp + 16;
  return true;
}

} // namespace jprof::agent::arch
