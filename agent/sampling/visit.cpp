// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/visit.h"

#include "agent/arch/arch.h"
#include "agent/sampling/shared_memory.h"

#include <atomic>
#include <ucontext.h>

namespace jprof::agent::sampling {
namespace {

constexpr std::uint32_t kStateBits = 3;
constexpr std::uint32_t kInside = 1;
constexpr std::uint32_t kEnding = 2;
constexpr std::uint32_t kOneVisit = 4;

std::atomic<std::uint32_t> g_inside{0};

struct Stack {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool holds(std::uint64_t address) const { return address >= begin && address < end; }
};

// The thread's alternate stack, as the kernel noted it in the signal frame.
Stack alternate_stack(const void* ucontext) {
  const stack_t& stack = static_cast<const ucontext_t*>(ucontext)->uc_stack;
  const auto begin = reinterpret_cast<std::uint64_t>(stack.ss_sp);
  return {.begin = begin, .end = begin + stack.ss_size};
}

} // namespace

void count_in() {
  g_inside.fetch_add(1);
}
void count_out() {
  g_inside.fetch_sub(1);
}
std::uint32_t handlers_inside() {
  return g_inside.load();
}

std::uint32_t enter(Visit& visit, const void* ucontext) {
  std::uint32_t state = load_acquire(visit.state);
  if ((state & kStateBits) != 0) {
    return 0;
  }
  const auto frame = reinterpret_cast<std::uint64_t>(ucontext);
  const Stack alternate = alternate_stack(ucontext);
  const bool on_it = alternate.holds(frame);
  visit.scratch = 0;
  visit.generation = 0;
  visit.modules = 0;
  visit.frame = frame;
  visit.sp = arch::read_registers(ucontext).sp;
  visit.stack_begin = on_it ? alternate.begin : 0;
  visit.stack_end = on_it ? alternate.end : 0;
  visit.number = kNoSlotYet;
  visit.weight = 0;
  visit.time_ns = 0;
  const std::uint32_t token = (state + kOneVisit) | kInside;
  return shared(visit.state).compare_exchange_strong(state, token) ? token : 0;
}

bool leave(Visit& visit, std::uint32_t token) {
  return shared(visit.state).compare_exchange_strong(token, token & ~kStateBits);
}

bool is_inside(Visit& visit, std::uint32_t token) {
  return load_acquire(visit.state) == token;
}

bool is_open(Visit& visit) {
  return (load_acquire(visit.state) & kStateBits) != 0;
}

std::uint32_t open_visit(Visit& visit) {
  const std::uint32_t state = load_acquire(visit.state);
  return (state & kStateBits) == kInside ? state : 0;
}

bool begin_ending(Visit& visit, std::uint32_t token) {
  return shared(visit.state).compare_exchange_strong(token, (token & ~kStateBits) | kEnding);
}

void finish_ending(Visit& visit, std::uint32_t token) {
  store_release(visit.state, token & ~kStateBits);
}

// A handler's frame is below what it interrupted, and whatever runs on top of it is below that. The
// exception is the alternate stack, which the kernel starts at its upper end if the thread is not
// on it.
bool is_left_behind(const Visit& visit, std::uint64_t sp) {
  const Stack own{.begin = visit.stack_begin, .end = visit.stack_end};
  return (own.end != 0 && !own.holds(sp)) || sp > visit.frame;
}

bool is_left_behind_by(const Visit& visit, const void* ucontext) {
  const std::uint64_t sp = arch::read_registers(ucontext).sp;
  // If the visit is not on an alternate stack, the thread may have switched to one on top of the
  // visit.
  const bool other_stack = visit.stack_end == 0 && alternate_stack(ucontext).holds(sp);
  return !other_stack && is_left_behind(visit, sp);
}

} // namespace jprof::agent::sampling
