// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What differs between CPUs. The build compiles the files for its CPU (x86_64*.cpp, aarch64.cpp);
// everything here may be called from a signal handler, on any thread.

#include <cstddef>
#include <cstdint>

extern "C" {
std::uint32_t jprof_call_guarded(void* function, void* first, std::int64_t second,
                                 const void* third, std::uint64_t* guarded_sp);
long jprof_start_child(unsigned long flags, void* stack_end, int (*function)(void*),
                       void* argument);
}

namespace jprof::agent::arch {

// The registers that a stack walk needs. `lr` is 0 if the CPU has none. HotSpot's interpreter keeps
// the bytecode pointer in `bcp` (x86-64: r13, aarch64: x22); on the way into a method, the caller's
// stack pointer is in `sender_sp` (r13, x19) and on x86-64 its return address may be in
// `popped_return` (rax), popped off the stack. Compiled code jumps to its exception stub with the
// return address of the call that threw in `exception_pc` (rdx, x3). A signal handler gets the
// interrupted context in `third_argument` (rdx, x2).
struct Registers {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint64_t fp = 0;
  std::uint64_t lr = 0;
  std::uint64_t bcp = 0;
  std::uint64_t sender_sp = 0;
  std::uint64_t popped_return = 0;
  std::uint64_t exception_pc = 0;
  std::uint64_t third_argument = 0;
};

// Words from the frame pointer of HotSpot's call stub to its JavaCallWrapper, if libjvm does not
// export it (entry_frame_call_wrapper_offset of cpu/*/frame_*.hpp, the same in 8 to 25).
#ifdef __aarch64__
inline constexpr std::int32_t kCallWrapperWords = -8;
#else
inline constexpr std::int32_t kCallWrapperWords = -6;
#endif

#ifdef __aarch64__
inline constexpr bool kCallPushesReturnAddress = false;
inline constexpr std::uint64_t kReturnSlotBytes =
    16; // what a stub pushes, together with another register
inline constexpr std::uint64_t kMinInstructionBytes = 4;
#else
inline constexpr bool kCallPushesReturnAddress = true;
inline constexpr std::uint64_t kReturnSlotBytes = 8;
inline constexpr std::uint64_t kMinInstructionBytes = 1;
#endif

// DWARF's numbers of these registers (x86-64 psABI, figure 3.36; AADWARF64, 4.1).
#ifdef __aarch64__
inline constexpr std::uint64_t kDwarfFramePointer = 29;
inline constexpr std::uint64_t kDwarfReturnAddress = 30;
inline constexpr std::uint64_t kDwarfStackPointer = 31;
#else
inline constexpr std::uint64_t kDwarfFramePointer = 6;
inline constexpr std::uint64_t kDwarfReturnAddress = 16;
inline constexpr std::uint64_t kDwarfStackPointer = 7;
#endif

Registers read_registers(const void* ucontext);
// Where the stack pointer is in such a context.
std::uint64_t stack_pointer_in(std::uint64_t ucontext);
// The same with protected loads; false if one failed.
bool load_registers(std::uint64_t ucontext, Registers* registers);

// If `registers` are at the place that a signal handler returns to, the address of the ucontext of
// what the signal interrupted; otherwise 0.
std::uint64_t interrupted_context(const Registers& registers);
// The same if they are at the beginning of a handler, which has not done anything yet: the kernel
// delivers the signals of one tick on top of each other.
std::uint64_t entered_handler_context(const Registers& registers);

// If `ucontext` was interrupted at a load of safe_load.h, makes it return "failed" and returns
// true.
bool resume_failed_load(void* ucontext);

// Calls function(first, second, third), which is not our code and may fault; false if it did. While
// it runs, `*guarded_sp` is the stack pointer that a fault handler passes to resume_guarded_call; 0
// afterwards. Whatever the function would have restored after the fault stays unrestored.
inline bool call_guarded(void* function, void* first, std::int64_t second, const void* third,
                         std::uint64_t* guarded_sp) {
  return jprof_call_guarded(function, first, second, third, guarded_sp) != 0;
}
// If `ucontext` was interrupted on the stack of that call, makes the call return false and returns
// true.
bool resume_guarded_call(void* ucontext, std::uint64_t guarded_sp);
inline constexpr std::uint64_t kMaxGuardedStack = 256 * 1024; // anything deeper is another thread's

// True if `pc` is where a system call returns to: the thread was in the kernel.
bool follows_system_call(std::uint64_t pc);

// True if what the kernel has saved in `ucontext` shows that a page fault, and not an interrupt,
// took the thread into the kernel. Always false on aarch64, where it does not show.
bool returns_from_page_fault(std::uint64_t ucontext);

// True if the instruction before `return_address` is a call; `target` is 0 if a register holds the
// destination.
bool follows_call(std::uint64_t return_address, std::uint64_t* target);

// Where the jump at `pc` leads, as in a procedure linkage table or a tail call; 0 if there is none.
std::uint64_t jump_target(std::uint64_t pc);

// A return address without the bits added by pointer authentication.
std::uint64_t strip_return_address(std::uint64_t address);

// Generated code with a frame of fixed size (a compiled method, a runtime stub).
struct FixedFrameCode {
  std::uint64_t begin = 0;          // first instruction
  std::uint64_t frame_complete = 0; // from here on the frame exists; 0: unknown
  std::uint64_t frame_bytes = 0;    // return address and saved frame pointer included
};

// Moves `registers` to the caller. `interrupted`: pc is where a signal arrived, perhaps in the
// prologue or epilogue; otherwise it is a return address. False: a load failed.
bool leave_fixed_frame(const FixedFrameCode& code, bool interrupted, Registers& registers);

// For an interrupted pc in C2's exception stub (OptoRuntime::generate_exception_blob), which pushes
// its return address itself and pops it before it jumps to the handler: the caller, if the stub's
// frame does not exist at that point. False if it does, or if a load failed.
bool leave_exception_stub(std::uint64_t begin, Registers& registers);

// How far HotSpot's stub that brings a virtual thread's frames back from the heap
// (StubGenerator::generate_cont_thaw) had got when it was interrupted.
enum class ThawState {
  kBefore, // the frames are in the heap
  kMoving, // or on the stack, but the stack pointer has not been moved yet
  kAfter,  // it is about to return into the innermost of them
};
ThawState state_in_thaw_stub(std::uint64_t pc);
// For an interrupted pc that is kAfter: the innermost of these frames. False: a load failed.
bool leave_thaw_stub(Registers& registers);
// The offset in the JavaThread of the stack position above which the frames go
// (JavaThread::_cont_entry), which such a stub's code reads first; -1 if the code between the two
// addresses does not read it.
std::int32_t entry_offset_in_thaw_stub(std::uint64_t begin, std::uint64_t end);

// For an interrupted pc in code of unknown shape that has no frame of its own yet: the caller, from
// the return address on top of the stack (x86-64) or in the link register (aarch64).
bool leave_frameless(Registers& registers);

// Follows the frame pointer: the return address and the caller's frame pointer are at `fp`.
bool leave_by_frame_pointer(Registers& registers);

inline constexpr std::uint64_t kMaxFrameBytes = 1U << 20;
// True if a native frame record may be at `fp` while the stack pointer is `sp`; nothing is read.
inline bool may_be_frame_pointer(std::uint64_t fp, std::uint64_t sp) {
  return fp >= sp && fp - sp <= kMaxFrameBytes && (fp & 7) == 0;
}

// System call with up to six arguments: a negative result is -errno. Leaves errno alone.
long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0);

// clone(2): a child that calls function(argument) on the stack that ends at `stack_end`, a multiple
// of 16, and exits with what that returns. The child's id, or -errno.
inline long start_child(unsigned long flags, void* stack_end, int (*function)(void*),
                        void* argument) {
  return jprof_start_child(flags, stack_end, function, argument);
}

// What the kernel returns to after a handler that we install by rt_sigaction; null: its own choice.
void (*signal_restorer())();

} // namespace jprof::agent::arch
