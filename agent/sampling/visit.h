// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A handler's visit to a session, on one thread: records what it holds, so that somebody else can
// give that back if the handler never returns. A fault handler that the program has installed in
// front of ours, or a handler whose signal interrupts ours, may leave by siglongjmp(). Signal-safe.

#include <cstdint>

namespace jprof::agent::sampling {

inline constexpr std::uint64_t kNoSlotYet = ~std::uint64_t{0};
inline constexpr std::uint64_t kOutcomeTold = kNoSlotYet - 1;

// One per thread entry, written only by that thread's handler while it is inside.
struct alignas(64) Visit {
  // Atomic. The lowest two bits say whether a handler is inside or being declared gone; the bits
  // above them count the visits.
  std::uint32_t state = 0;
  std::uint16_t scratch = 0;   // index + 1; 0: none is held
  std::uint8_t generation = 0; // which copy is held + 1; 0: none
  std::uint8_t modules = 0;    // the same
  std::uint64_t frame = 0;     // the kernel's copy of what was interrupted, on the handler's stack
  std::uint64_t sp = 0;        // ... the stack pointer in it
  std::uint64_t stack_begin = 0; // the alternate stack that the handler runs on; both 0: none
  std::uint64_t stack_end = 0;
  std::uint64_t number = kOutcomeTold; // of the slot in the ring, or one of the two above
  std::uint64_t weight = 0;
  std::uint64_t time_ns = 0;
};
static_assert(sizeof(Visit) == 64);

// Handlers at work, whether or not they visit a session.
void count_in();
void count_out();
std::uint32_t handlers_inside();

// Returns a token for this visit, valid until it ends; 0 if this thread's last visit has not ended.
std::uint32_t enter(Visit& visit, const void* ucontext);
// False if the visit has been declared gone: it no longer owns what it held.
bool leave(Visit& visit, std::uint32_t token);
bool is_inside(Visit& visit, std::uint32_t token);
// True from enter() until the visit has ended, no matter who ends it.
bool is_open(Visit& visit);
// The token of the visit that has not ended and that nobody is ending; 0 if there is none.
std::uint32_t open_visit(Visit& visit);

// For ending a visit on behalf of its handler: true for only one caller, who must finish it.
bool begin_ending(Visit& visit, std::uint32_t token);
void finish_ending(Visit& visit, std::uint32_t token);

// True if a thread whose stack pointer is `sp`, and that is not about to be switched to another
// stack, can no longer have anything of the visit's handler on its stack.
bool is_left_behind(const Visit& visit, std::uint64_t sp);
// The same for the thread that is interrupted at `ucontext` now.
bool is_left_behind_by(const Visit& visit, const void* ucontext);

} // namespace jprof::agent::sampling
