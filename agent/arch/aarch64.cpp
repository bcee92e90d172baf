// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/arch/arch.h"
#include "agent/arch/safe_load.h"

#include <cstddef>
#include <ucontext.h>

// A load that faults is resumed at jprof_load_failed, a copy at jprof_copy_done, where x2 still
// holds the number of bytes left.
asm(R"(
  .text
  .p2align 4
  .hidden jprof_load8, jprof_load16, jprof_load32, jprof_load64, jprof_copy
  .globl jprof_load8, jprof_load16, jprof_load32, jprof_load64, jprof_copy
  .type jprof_load8, %function
  .type jprof_load16, %function
  .type jprof_load32, %function
  .type jprof_load64, %function
  .type jprof_copy, %function
jprof_loads_begin:
jprof_load8:
  ldrb w2, [x0]
  strb w2, [x1]
  mov w0, #1
  ret
jprof_load16:
  ldrh w2, [x0]
  strh w2, [x1]
  mov w0, #1
  ret
jprof_load32:
  ldr w2, [x0]
  str w2, [x1]
  mov w0, #1
  ret
jprof_load64:
  ldr x2, [x0]
  str x2, [x1]
  mov w0, #1
  ret
jprof_loads_end:
jprof_load_failed:
  mov w0, #0
  ret
jprof_copy:
  mov x4, x2
jprof_copy_fault:
  cbz x2, jprof_copy_done
  ldrb w3, [x1]
  strb w3, [x0]
  add x0, x0, #1
  add x1, x1, #1
  sub x2, x2, #1
  b jprof_copy_fault
jprof_copy_done:
  sub x0, x4, x2
  ret
  .p2align 4
  .hidden jprof_call_guarded
  .globl jprof_call_guarded
  .type jprof_call_guarded, %function
jprof_call_guarded:
  stp x29, x30, [sp, #-176]!
  mov x29, sp
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  str x4, [sp, #160]
  mov x9, sp
  str x9, [x4]
  mov x9, x0
  mov x0, x1
  mov x1, x2
  mov x2, x3
  blr x9
  mov w0, #1
jprof_guarded_call_ended:
  ldr x4, [sp, #160]
  str xzr, [x4]
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #176
  ret
jprof_guarded_call_failed:
  mov w0, #0
  b jprof_guarded_call_ended
  .hidden jprof_start_child
  .globl jprof_start_child
  .type jprof_start_child, %function
jprof_start_child:
  stp x2, x3, [x1, #-16]!
  mov x2, #0
  mov x3, #0
  mov x4, #0
  mov x8, #220
  svc #0
  cbz x0, jprof_child
  ret
jprof_child:
  mov x29, #0
  mov x30, #0
  ldp x9, x0, [sp], #16
  blr x9
  mov x8, #93
  svc #0
  brk #0
)");

extern "C" {
extern const char jprof_loads_begin[] __attribute__((visibility("hidden")));
extern const char jprof_loads_end[] __attribute__((visibility("hidden")));
extern const char jprof_load_failed[] __attribute__((visibility("hidden")));
extern const char jprof_copy_fault[] __attribute__((visibility("hidden")));
extern const char jprof_copy_done[] __attribute__((visibility("hidden")));
extern const char jprof_guarded_call_failed[] __attribute__((visibility("hidden")));
}

namespace jprof::agent::arch {
namespace {

constexpr std::uint32_t kRet = 0xd65f03c0;
constexpr std::uint32_t kSupervisorCall = 0xd4000001;

std::uint64_t address_of(const char* label) {
  return reinterpret_cast<std::uint64_t>(label);
}

// b, bl: a distance of 26 bits, in instructions
std::uint64_t branch_target(std::uint64_t pc, std::uint32_t instruction) {
  const auto distance = static_cast<std::int64_t>(std::uint64_t{instruction} << 38) >> 36;
  return pc + static_cast<std::uint64_t>(distance);
}

// ldp x29, x30, [sp, #n] | [sp], #n
bool restores_frame_record(std::uint32_t instruction) {
  return (instruction & 0xffc07fff) == 0xa9407bfd || (instruction & 0xffc07fff) == 0xa8c07bfd;
}
// add sp, sp, #n | add sp, sp, x9
bool frees_frame(std::uint32_t instruction) {
  return (instruction & 0xff8003ff) == 0x910003ff || instruction == 0x8b2963ff;
}

// After the frame is freed HotSpot emits nothing but a safepoint poll and `ret`, at most six
// instructions (aarch64.ad, MachEpilogNode). Walk back over whatever may be in between.
bool in_epilogue(std::uint64_t pc) {
  std::uint32_t instruction = 0;
  if (load(pc, &instruction) && instruction == kRet) {
    return true;
  }
  for (std::uint64_t back = 1; back <= 5; ++back) {
    if (!load(pc - 4 * back, &instruction) || instruction == kRet) {
      return false;
    }
    if (frees_frame(instruction)) {
      std::uint32_t before = 0;
      return load(pc - 4 * back - 4, &before) && restores_frame_record(before);
    }
    if ((instruction & 0xffc07fff) == 0xa8c07bfd) { // ldp x29, x30, [sp], #n frees it, too
      return true;
    }
  }
  return false;
}

// The frame exists after `sub sp, sp, #n` (or stp ..., [sp, #-n]!).
bool frame_allocated(const FixedFrameCode& code, std::uint64_t pc) {
  for (std::uint64_t at = pc - 4; at >= code.begin && at + 32 >= pc; at -= 4) {
    std::uint32_t instruction = 0;
    if (!load(at, &instruction)) {
      return false;
    }
    if ((instruction & 0xff8003ff) == 0xd10003ff || (instruction & 0xffc07fff) == 0xa9807bfd) {
      return true;
    }
  }
  return false;
}

// A `bl` reaches 128 MiB: HotSpot's compiled code calls what is farther away through a trampoline
// of its own, `ldr x8, 1f; br x8; 1: .quad target` (NativeCallTrampolineStub).
std::uint64_t behind_trampoline(std::uint64_t target) {
  std::uint32_t code[2] = {};
  std::uint64_t behind = 0;
  const bool trampoline = copy(code, target, sizeof code) && code[0] == 0x58000048 &&
                          code[1] == 0xd61f0100 && load(target + 8, &behind);
  return trampoline ? behind : target;
}

// The beginning of struct sigcontext, arch/arm64/include/uapi/asm/sigcontext.h.
struct SavedRegisters {
  std::uint64_t fault_address, regs[31], sp, pc;
};

Registers registers_of(const SavedRegisters& saved) {
  return Registers{.pc = saved.pc,
                   .sp = saved.sp,
                   .fp = saved.regs[29],
                   .lr = saved.regs[30],
                   .bcp = saved.regs[22],
                   .sender_sp = saved.regs[19],
                   .popped_return = 0,
                   .exception_pc = saved.regs[3],
                   .third_argument = saved.regs[2]};
}

// The signal frame, struct rt_sigframe of arch/arm64/kernel/signal.c: the siginfo, the ucontext.
constexpr std::uint64_t kSiginfoBytes = 128;

// mov x8, #139; svc #0: rt_sigreturn, as in the vDSO and every C library.
bool is_signal_return(std::uint64_t pc) {
  std::uint64_t code = 0;
  return load(pc, &code) && code == 0xd4000001d2801168;
}

// What the three instructions before `pc` have put into a register, as for calls that are too far
// for a branch (MacroAssembler::movptr of macroAssembler_aarch64.cpp); 0 if they do something else.
std::uint64_t made_address(std::uint64_t pc, std::uint32_t register_number) {
  constexpr std::uint32_t kMove[3] = {0xd2800000, 0xf2a00000, 0xf2c00000}; // movz, movk 16, movk 32
  std::uint32_t code[3] = {};
  std::uint64_t address = 0;
  for (int i = 0; i < 3; ++i) {
    if (!load(pc - 12 + static_cast<std::uint64_t>(i) * 4, &code[i]) ||
        (code[i] & 0xffe0001f) != (kMove[i] | register_number)) {
      return 0;
    }
    address |= static_cast<std::uint64_t>(code[i] >> 5 & 0xffff) << 16 * i;
  }
  return address;
}

} // namespace

Registers read_registers(const void* ucontext) {
  SavedRegisters saved;
  __builtin_memcpy(&saved, &static_cast<const ucontext_t*>(ucontext)->uc_mcontext, sizeof saved);
  return registers_of(saved);
}

std::uint64_t stack_pointer_in(std::uint64_t ucontext) {
  return ucontext + offsetof(ucontext_t, uc_mcontext) + offsetof(SavedRegisters, sp);
}

bool load_registers(std::uint64_t ucontext, Registers* registers) {
  SavedRegisters saved;
  if (!copy(&saved, ucontext + offsetof(ucontext_t, uc_mcontext), sizeof saved)) {
    return false;
  }
  *registers = registers_of(saved);
  return true;
}

std::uint64_t interrupted_context(const Registers& registers) {
  return is_signal_return(registers.pc) ? registers.sp + kSiginfoBytes : 0;
}

std::uint64_t entered_handler_context(const Registers& registers) {
  const std::uint64_t context = registers.sp + kSiginfoBytes;
  return registers.third_argument == context && is_signal_return(registers.lr) ? context : 0;
}

bool resume_failed_load(void* ucontext) {
  auto& pc = static_cast<ucontext_t*>(ucontext)->uc_mcontext.pc;
  if (pc >= address_of(jprof_loads_begin) && pc < address_of(jprof_loads_end)) {
    pc = address_of(jprof_load_failed);
    return true;
  }
  if (pc >= address_of(jprof_copy_fault) && pc < address_of(jprof_copy_done)) {
    pc = address_of(jprof_copy_done);
    return true;
  }
  return false;
}

bool resume_guarded_call(void* ucontext, std::uint64_t guarded_sp) {
  auto& machine = static_cast<ucontext_t*>(ucontext)->uc_mcontext;
  if (machine.sp > guarded_sp || guarded_sp - machine.sp > kMaxGuardedStack) {
    return false;
  }
  machine.pc = address_of(jprof_guarded_call_failed);
  machine.sp = guarded_sp;
  return true;
}

bool follows_system_call(std::uint64_t pc) {
  std::uint32_t instruction = 0;
  return load(pc - 4, &instruction) && instruction == kSupervisorCall;
}

bool returns_from_page_fault(std::uint64_t ucontext) {
  static_cast<void>(ucontext); // it tells the cause of those faults only that become signals
  return false;
}

bool follows_call(std::uint64_t return_address, std::uint64_t* target) {
  std::uint32_t instruction = 0;
  *target = 0;
  if (!load(return_address - 4, &instruction)) {
    return false;
  }
  if (instruction >> 26 == 0x25) { // bl
    *target = behind_trampoline(branch_target(return_address - 4, instruction));
    return true;
  }
  if ((instruction & 0xfffffc1f) != 0xd63f0000) { // blr
    return false;
  }
  *target = made_address(return_address - 4, instruction >> 5 & 31);
  return true;
}

std::uint64_t jump_target(std::uint64_t pc) {
  std::uint32_t code[2] = {};
  if (!copy(code, pc, sizeof code)) {
    return 0;
  }
  if (code[0] >> 26 == 0x05) { // b
    return branch_target(pc, code[0]);
  }
  std::uint64_t target = 0;
  const bool linkage = (code[0] & 0x9f00001f) == 0x90000010 && // adrp x16, page
                       (code[1] & 0xffc003ff) == 0xf9400211;   // ldr x17, [x16, #offset]
  if (linkage) {
    const std::uint64_t low = code[0] >> 29 & 3;
    const std::uint64_t high = code[0] >> 5 & 0x7ffff;
    const auto pages = static_cast<std::int64_t>((high << 2 | low) << 43) >> 31;
    load((pc & ~std::uint64_t{0xfff}) + static_cast<std::uint64_t>(pages) +
             (code[1] >> 10 & 0xfff) * std::uint64_t{8},
         &target);
  }
  return target;
}

std::uint64_t strip_return_address(std::uint64_t address) {
  return address &
         0x0000ffffffffffffULL; // user space ends at 2^48 at most (TBI and PAC use the bits above)
}

bool leave_fixed_frame(const FixedFrameCode& code, bool interrupted, Registers& registers) {
  if (interrupted) {
    const bool in_prologue = code.frame_complete != 0 && registers.pc < code.frame_complete;
    if (in_prologue ? !frame_allocated(code, registers.pc) : in_epilogue(registers.pc)) {
      return leave_frameless(registers);
    }
    if (in_prologue) { // allocated, but the frame record may not be written yet: lr and fp still
                       // hold
      registers.sp += code.frame_bytes;
      registers.pc = strip_return_address(registers.lr);
      return true;
    }
  }
  const std::uint64_t caller_sp = registers.sp + code.frame_bytes;
  if (!load(caller_sp - 8, &registers.pc) || !load(caller_sp - 16, &registers.fp)) {
    return false;
  }
  registers.pc = strip_return_address(registers.pc);
  registers.sp = caller_sp;
  return true;
}

// stp x29, x3, [sp, #-16]! ... ldp x29, x3, [sp], #16 ... br x8.
bool leave_exception_stub(std::uint64_t begin, Registers& registers) {
  constexpr std::uint32_t kTakesBack = 0xa8c10ffd;
  constexpr std::uint64_t kTailInstructions = 12;
  bool popped = registers.pc == begin;
  for (std::uint64_t i = 1; !popped && i <= kTailInstructions && registers.pc - begin >= 4 * i;
       ++i) {
    std::uint32_t code = 0;
    popped = load(registers.pc - 4 * i, &code) && code == kTakesBack;
  }
  registers.pc = strip_return_address(registers.exception_pc);
  return popped;
}

// ...; bl thaw; ...; sub sp, x9, #16; mov x29, sp; mov sp, x29; ldp x29, x30, [sp], #16; ret, the
// same in 21 to 25; to continue with an exception it makes one more call before the ldp.
ThawState state_in_thaw_stub(std::uint64_t pc) {
  constexpr std::uint32_t kSwitch = 0xd100413f;
  constexpr std::uint32_t kSetFramePointer = 0x910003fd;
  constexpr std::uint32_t kFreeFrame = 0x910003bf;
  constexpr std::uint32_t kPop = 0xa8c17bfd;
  constexpr std::uint32_t kReturn = 0xd65f03c0;
  constexpr std::size_t kBefore = 16;
  constexpr std::size_t kAhead = 6;
  std::uint32_t code[kBefore + kAhead] = {};
  if (!copy(code, pc - kBefore * 4, sizeof code)) {
    return ThawState::kBefore;
  }
  const std::uint32_t* here = code + kBefore;
  if ((here[0] == kSetFramePointer && here[1] == kFreeFrame && here[2] == kPop) ||
      (here[0] == kFreeFrame && here[1] == kPop) || (here[0] == kPop && here[1] == kReturn) ||
      (here[0] == kReturn && here[-1] == kPop)) {
    return ThawState::kAfter;
  }
  for (std::size_t i = 0; i < kBefore + kAhead; ++i) {
    const bool left = i + 2 < kBefore + kAhead && code[i + 2] == kFreeFrame;
    if (code[i] == kSwitch && (i >= kBefore || !left)) {
      return ThawState::kMoving;
    }
  }
  return ThawState::kBefore;
}

bool leave_thaw_stub(Registers& registers) {
  constexpr std::uint32_t kReturn = 0xd65f03c0;
  std::uint32_t code = 0;
  if (!load(registers.pc, &code)) {
    return false;
  }
  if (code == kReturn) {
    return leave_frameless(registers);
  }
  const std::uint64_t place = registers.sp;
  if (!load(place + 8, &registers.pc) || !load(place, &registers.fp)) {
    return false;
  }
  registers.pc = strip_return_address(registers.pc);
  registers.sp = place + 16;
  return true;
}

// ldr x8, [x28, #offset]; mov sp, x8
std::int32_t entry_offset_in_thaw_stub(std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t at = begin; at + 8 <= end; at += 4) {
    std::uint32_t code[2] = {};
    if (!copy(code, at, sizeof code)) {
      return -1;
    }
    if ((code[0] & 0xffc003ff) == 0xf9400388 && code[1] == 0x9100011f) {
      return static_cast<std::int32_t>((code[0] >> 10 & 0xfff) * 8);
    }
  }
  return -1;
}

bool leave_frameless(Registers& registers) {
  registers.pc = strip_return_address(registers.lr);
  return registers.pc != 0;
}

bool leave_by_frame_pointer(Registers& registers) {
  const std::uint64_t fp = registers.fp;
  if (!load(fp + 8, &registers.pc) || !load(fp, &registers.fp)) {
    return false;
  }
  registers.pc = strip_return_address(registers.pc);
  registers.sp = fp + 16;
  return true;
}

long system_call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc #0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
}

void (*signal_restorer())() {
  return nullptr; // the kernel's own, in the vDSO
}

} // namespace jprof::agent::arch
