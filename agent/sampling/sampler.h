// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a signal handler works on: one recording session's view of the region. Set up and torn down
// by session.cpp on the agent's thread; handlers on any thread use it between install() and the end
// of wait_for_handlers() of handler.h.

#include "agent/arch/arch.h"
#include "agent/sampling/frame_cache.h"
#include "agent/sampling/frozen_stack.h"
#include "agent/sampling/method_frames.h"
#include "agent/sampling/module_map.h"
#include "agent/sampling/name_store.h"
#include "agent/sampling/old_code.h"
#include "agent/sampling/reader_gate.h"
#include "agent/sampling/stack_store.h"
#include "agent/sampling/stack_walker.h"
#include "agent/sampling/visit.h"
#include "agent/sampling/vm_layout.h"
#include "lib/wire/region.h"

#include <cstddef>
#include <cstdint>
#include <signal.h>

namespace jprof::agent::sampling {

// Values of ThreadEntry::armed; 0 while it is not armed.
inline constexpr std::uint32_t kArmedByTimer = 1;
inline constexpr std::uint32_t kArmedByPerf = 2;
// Values of ThreadEntry::quiet: for a thread that existed before the session, and for one that
// began later and may be about to sandbox itself.
inline constexpr std::uint16_t kQuietUntilSeen = 1;
inline constexpr std::uint16_t kQuietUntilOld = 2;

// What the agent keeps for each armed thread, in the private part of the region. A timer's signal
// carries the address of the entry, a perf event's the number of its descriptor, so the handler
// needs neither gettid nor thread-local storage.
struct alignas(64) ThreadEntry {
  std::int32_t tid = 0;
  std::int32_t timer = -1;        // the kernel's id, or the descriptor of perf's event
  std::uint32_t armed = 0;        // atomic: whether its signals count, and their source
  std::uint32_t counts_ticks = 0; // atomic: its timer is on the tick clock (count_ticks)
  std::uint64_t java_thread = 0;  // atomic: the JavaThread last seen on it
  std::uint64_t named_after = 0;  // the JavaThread that its name is from
  std::uint64_t interval_ns = 0;  // atomic: of its timer
  // Atomic: how far its samples account for its CPU clock, starting from its value when the thread
  // was armed, or 0 for a thread that began since; and what its next quiet sample stands for
  // besides intervals (engines/cpu_timer.h).
  std::uint64_t accounted_ns = 0;
  std::uint64_t carried_ns = 0;
  std::uint32_t seen = 0;       // the last scan that saw this thread
  std::uint16_t name_tries = 0; // since java_thread was first seen
  // Atomic: not 0 while its handler makes no system call except its return, because a seccomp
  // filter of the thread's own might kill it for one and nobody has checked yet (kQuietUntilSeen,
  // -Old).
  std::uint16_t quiet = 0;
};
static_assert(sizeof(ThreadEntry) == 64);

struct Scratch {
  std::uint32_t taken;      // atomic
  std::int32_t tid;         // atomic: of the thread that took it last
  std::uint64_t guarded_sp; // atomic: while AsyncGetCallTrace runs (arch::call_guarded), else 0
  wire::Frame frames[kMaxScratchDepth];
};

// CPU time of a thread whose stack the agent's thread has not yet asked for.
struct WaitingTime {
  std::uint64_t weight = 0;  // atomic
  std::uint64_t signals = 0; // atomic
};

// A generation slot: the stacks and names that belong together.
struct Generation {
  StackStore stacks;
  NameStore names;
  wire::GenerationInfo* info = nullptr;
};

struct Sampler {
  wire::RegionHeader* header = nullptr;
  wire::SampleSlot* ring = nullptr;
  std::uint64_t ring_capacity = 0;
  ThreadEntry* threads = nullptr;
  Visit* visits = nullptr; // [thread_capacity]
  wire::ThreadSlot* thread_slots = nullptr;
  std::uint32_t thread_capacity = 0;
  std::uint16_t* perf_slots = nullptr; // [perf_capacity], by descriptor: slot + 1, 0: none of ours
  std::uint32_t perf_capacity = 0;
  Scratch* scratch = nullptr;
  std::uint32_t scratch_count = 0;
  std::uint32_t max_depth = 0; // atomic
  std::int32_t pid = 0;
  bool signals_carry_timer_id = true;
  VmLayout vm;
  // What finds the stacks: our own walker if both are null, AsyncGetCallTrace, or the agent's
  // thread. For the last, handlers note here the time that is waiting for a stack.
  void* call_trace = nullptr;
  WaitingTime* waiting = nullptr; // [thread_capacity]
  std::atomic<std::uint32_t> stacks_wanted{0};
  Generation generations[wire::kGenerations];
  ReaderGate generation_gate;
  FrameCache frame_cache;
  OldCode old_code;
  bool checks_cache = false;    // for tests: each stack is walked once more, without the cache
  ModuleMap* modules = nullptr; // two of them
  ReaderGate module_gate;
  std::atomic<std::uint32_t> modules_wanted{0};     // a handler met a pc in no known module
  std::atomic<std::uint32_t> names_wanted{0};       // ... a thread with a JavaThread not known yet
  std::atomic<const FrozenLayout*> frozen{nullptr}; // how frozen frames are read; null: unknown
  std::uint64_t handler_ns = 10'000;                // atomic: what a sample has cost lately
  long (*clock)(int clock, void* timespec) = nullptr; // the vDSO's clock_gettime, may be null
  void* (*thread_specific)(unsigned key) = nullptr;   // libc's pthread_getspecific
};

std::uint64_t monotonic_ns(const Sampler& sampler);

// The thread whose timer or perf event has sent this signal; null for anybody else's.
ThreadEntry* sender_of(const Sampler& sampler, const siginfo_t& info);

// Takes the sample that `info` announces, on the thread that it interrupted, which is `entry`'s.
// False if this visit has been declared gone, and the handler counted out, meanwhile.
bool take_sample(Sampler& sampler, ThreadEntry& entry, const siginfo_t& info, const void* ucontext);

// Ends a visit on behalf of a handler that will not return: gives back what it held, and makes its
// sample an error. False if the visit has ended meanwhile. Called by the agent's thread, or by the
// next handler of the same thread.
bool end_visit(Sampler& sampler, ThreadEntry& entry, std::uint32_t token);

// What the JVM said about a thread's stack, leaf first. If there are no frames, `error` says why.
struct FoundStack {
  const MethodFrame* frames = nullptr;
  std::uint32_t depth = 0;
  bool truncated = false;
  wire::ErrorFrame error = wire::ErrorFrame::kNone;
};
// Commits samples for the time that is waiting for this thread's stack, one per signal. On the
// agent's thread.
void record_waiting(Sampler& sampler, ThreadEntry& entry, const FoundStack& found);

std::uint64_t& counter(Sampler& sampler, wire::Counter which);
void count(Sampler& sampler, wire::Counter which, std::uint64_t amount = 1);

// The id of a thread that has not left its handler; 0 if all have. Agent's thread.
std::int32_t thread_in_handler(const Sampler& sampler);

} // namespace jprof::agent::sampling
