// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/arch/arch.h"
#include "agent/arch/safe_load.h"

#include <cstddef>
#include <ucontext.h>

// A load that faults is resumed at jprof_load_failed with the stack as at entry, a copy at
// jprof_copy_done, where rcx still holds the number of bytes left.
asm(R"(
  .text
  .p2align 4
  .hidden jprof_load8, jprof_load16, jprof_load32, jprof_load64, jprof_copy
  .globl jprof_load8, jprof_load16, jprof_load32, jprof_load64, jprof_copy
  .type jprof_load8, @function
  .type jprof_load16, @function
  .type jprof_load32, @function
  .type jprof_load64, @function
  .type jprof_copy, @function
jprof_loads_begin:
jprof_load8:
  movzbl (%rdi), %eax
  movb %al, (%rsi)
  movl $1, %eax
  ret
jprof_load16:
  movzwl (%rdi), %eax
  movw %ax, (%rsi)
  movl $1, %eax
  ret
jprof_load32:
  movl (%rdi), %eax
  movl %eax, (%rsi)
  movl $1, %eax
  ret
jprof_load64:
  movq (%rdi), %rax
  movq %rax, (%rsi)
  movl $1, %eax
  ret
jprof_loads_end:
jprof_load_failed:
  xorl %eax, %eax
  ret
jprof_copy:
  movq %rdi, %r8
  movq %rsi, %r9
  movq %rdx, %rcx
  movq %rdx, %rax
jprof_copy_fault:
  rep movsb
jprof_copy_done:
  subq %rcx, %rax
  ret
  .size jprof_load8, . - jprof_load8
jprof_restorer:
  movq $15, %rax
  syscall
  .p2align 4
  .hidden jprof_call_guarded
  .globl jprof_call_guarded
  .type jprof_call_guarded, @function
jprof_call_guarded:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  pushq %r8
  movq %rsp, (%r8)
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  call *%rax
  movl $1, %eax
jprof_guarded_call_ended:
  popq %r8
  movq $0, (%r8)
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
jprof_guarded_call_failed:
  xorl %eax, %eax
  jmp jprof_guarded_call_ended
  .hidden jprof_start_child
  .globl jprof_start_child
  .type jprof_start_child, @function
jprof_start_child:
  subq $16, %rsi
  movq %rdx, (%rsi)
  movq %rcx, 8(%rsi)
  xorl %edx, %edx
  xorl %r10d, %r10d
  xorl %r8d, %r8d
  movl $56, %eax
  syscall
  testq %rax, %rax
  jz jprof_child
  ret
jprof_child:
  xorl %ebp, %ebp
  popq %rax
  popq %rdi
  call *%rax
  movl %eax, %edi
  movl $60, %eax
  syscall
  hlt
)");

extern "C" {
extern const char jprof_loads_begin[] __attribute__((visibility("hidden")));
extern const char jprof_loads_end[] __attribute__((visibility("hidden")));
extern const char jprof_load_failed[] __attribute__((visibility("hidden")));
extern const char jprof_copy_fault[] __attribute__((visibility("hidden")));
extern const char jprof_copy_done[] __attribute__((visibility("hidden")));
extern const char jprof_guarded_call_failed[] __attribute__((visibility("hidden")));
void jprof_restorer() __attribute__((visibility("hidden")));
}

namespace jprof::agent::arch {
namespace {

std::uint64_t address_of(const char* label) {
  return reinterpret_cast<std::uint64_t>(label);
}

Registers registers_of(const greg_t* saved) {
  return Registers{.pc = static_cast<std::uint64_t>(saved[REG_RIP]),
                   .sp = static_cast<std::uint64_t>(saved[REG_RSP]),
                   .fp = static_cast<std::uint64_t>(saved[REG_RBP]),
                   .lr = 0,
                   .bcp = static_cast<std::uint64_t>(saved[REG_R13]),
                   .sender_sp = static_cast<std::uint64_t>(saved[REG_R13]),
                   .popped_return = static_cast<std::uint64_t>(saved[REG_RAX]),
                   .exception_pc = static_cast<std::uint64_t>(saved[REG_RDX]),
                   .third_argument = static_cast<std::uint64_t>(saved[REG_RDX])};
}

// mov $15, %rax; syscall: rt_sigreturn, as in every C library and in our own restorer.
bool is_signal_return(std::uint64_t pc) {
  std::uint64_t code = 0;
  std::uint8_t last = 0;
  return load(pc, &code) && code == 0x0f0000000fc0c748 && load(pc + 8, &last) && last == 0x05;
}

} // namespace

Registers read_registers(const void* ucontext) {
  return registers_of(static_cast<const ucontext_t*>(ucontext)->uc_mcontext.gregs);
}

std::uint64_t stack_pointer_in(std::uint64_t ucontext) {
  return ucontext + offsetof(ucontext_t, uc_mcontext.gregs) + REG_RSP * sizeof(greg_t);
}

bool load_registers(std::uint64_t ucontext, Registers* registers) {
  gregset_t saved;
  if (!copy(saved, ucontext + offsetof(ucontext_t, uc_mcontext.gregs), sizeof saved)) {
    return false;
  }
  *registers = registers_of(saved);
  return true;
}

// The signal frame, struct rt_sigframe of arch/x86/include/asm/sigframe.h: the return address, the
// ucontext, the siginfo.
std::uint64_t interrupted_context(const Registers& registers) {
  return is_signal_return(registers.pc) ? registers.sp : 0;
}

std::uint64_t entered_handler_context(const Registers& registers) {
  const std::uint64_t context = registers.sp + 8;
  return registers.third_argument == context && is_signal_return(word_at(registers.sp)) ? context
                                                                                        : 0;
}

bool resume_failed_load(void* ucontext) {
  auto& pc = static_cast<ucontext_t*>(ucontext)->uc_mcontext.gregs[REG_RIP];
  const auto at = static_cast<std::uint64_t>(pc);
  if (at >= address_of(jprof_loads_begin) && at < address_of(jprof_loads_end)) {
    pc = static_cast<greg_t>(address_of(jprof_load_failed));
    return true;
  }
  if (at == address_of(jprof_copy_fault)) {
    pc = static_cast<greg_t>(address_of(jprof_copy_done));
    return true;
  }
  return false;
}

bool resume_guarded_call(void* ucontext, std::uint64_t guarded_sp) {
  auto& registers = static_cast<ucontext_t*>(ucontext)->uc_mcontext.gregs;
  const auto sp = static_cast<std::uint64_t>(registers[REG_RSP]);
  if (sp > guarded_sp || guarded_sp - sp > kMaxGuardedStack) {
    return false;
  }
  registers[REG_RIP] = static_cast<greg_t>(address_of(jprof_guarded_call_failed));
  registers[REG_RSP] = static_cast<greg_t>(guarded_sp);
  return true;
}

long system_call(long number, long a, long b, long c, long d, long e, long f) {
  long result = 0;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

void (*signal_restorer())() {
  return jprof_restorer;
}

} // namespace jprof::agent::arch
