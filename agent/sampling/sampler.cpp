// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/sampler.h"

#include "agent/arch/safe_load.h"
#include "agent/os/system.h"
#include "agent/sampling/account.h"
#include "agent/sampling/blocked_faults.h"
#include "agent/sampling/cache_check.h"
#include "agent/sampling/call_trace.h"
#include "agent/sampling/stack_walker.h"

#include <sys/syscall.h>
#include <time.h>

namespace jprof::agent::sampling {
namespace {

using wire::Counter;
using wire::ErrorFrame;
using wire::StackFlag;

// The handler's time is read from the thread's CPU clock, so that preemption does not count. That
// takes two system calls: at short intervals they are made for one signal in eight.
constexpr std::uint64_t kTimeEachNs = 1'000'000;
constexpr std::uint64_t kTimeOneOf = 8;

std::uint64_t nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t thread_cpu_ns() {
  timespec now{};
  arch::system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, reinterpret_cast<long>(&now));
  return nanoseconds(now);
}

// The time of the last tick: no system call, and no RDTSC, which seccomp's strict mode forbids.
std::uint64_t quiet_monotonic_ns(const Sampler& sampler) {
  timespec now{};
  const std::uint64_t start = load_relaxed(sampler.header->start_mono_ns);
  if (sampler.clock == nullptr || sampler.clock(CLOCK_MONOTONIC_COARSE, &now) != 0) {
    return start;
  }
  return nanoseconds(now) > start ? nanoseconds(now) : start;
}

// False if a failing load would end the process: because each load is a system call, which this
// thread may not be allowed to make, or because it faults, and this thread blocks faults.
bool may_load(const ThreadEntry& entry, const void* ucontext) {
  const bool may_call = load_relaxed(entry.quiet) == 0;
  return arch::kernel_loads() ? may_call : let_faults_arrive(ucontext, may_call);
}

// The JavaThread that runs on this thread, or 0.
std::uint64_t current_java_thread(const Sampler& sampler) {
  const VmLayout& vm = sampler.vm;
  if (vm.env_offset < 0 || sampler.thread_specific == nullptr) {
    return 0;
  }
  const auto thread = reinterpret_cast<std::uint64_t>(sampler.thread_specific(vm.thread_key));
  if (thread == 0 || (thread & 7) != 0) {
    return 0;
  }
  const std::uint64_t env = thread + static_cast<std::uint64_t>(vm.env_offset);
  return arch::word_at(env) == vm.jni_functions ? thread : 0;
}

Scratch* take_scratch(const Sampler& sampler, std::uint32_t start) {
  for (std::uint32_t i = 0; i < sampler.scratch_count; ++i) {
    Scratch& scratch = sampler.scratch[(start + i) % sampler.scratch_count];
    if (load_relaxed(scratch.taken) == 0 &&
        shared(scratch.taken).exchange(1, std::memory_order_acquire) == 0) {
      return &scratch;
    }
  }
  return nullptr;
}

std::uint32_t error_stack(ErrorFrame error) {
  return wire::kStackIsError | static_cast<std::uint32_t>(error);
}

// A visit and its token. Nobody else ends a visit of the agent's thread.
struct Stay {
  Visit& visit;
  std::uint32_t token = 0;
};

struct Outcome {
  std::uint32_t stack = 0; // as in SampleSlot
  std::uint32_t generation = 0;
  bool is_error = false;
  bool in_old_code = false;
};

// Stores a walk's frames in a generation that the caller is counted in for.
Outcome keep(Sampler& sampler, const Generation& generation, wire::Frame* frames,
             const WalkedStack& stack) {
  if (stack.unknown_module) {
    sampler.modules_wanted.store(1, std::memory_order_relaxed);
  }
  if (stack.cache_hits + stack.cache_misses != 0) {
    count(sampler, Counter::kFrameCacheHits, stack.cache_hits);
    count(sampler, Counter::kFrameCacheMisses, stack.cache_misses);
    count(sampler, Counter::kFrameCacheEvictions, stack.cache_evictions);
  }
  if (stack.unnamed_frames != 0) {
    count(sampler, Counter::kNameStoreFull, stack.unnamed_frames);
  }
  if ((stack.flags & static_cast<std::uint16_t>(StackFlag::kTruncated)) != 0) {
    count(sampler, Counter::kTruncatedDepth);
  }
  Outcome outcome{.stack = generation.stacks.put_what_fits(frames, stack.depth, stack.flags),
                  .generation = load_relaxed(generation.info->number),
                  .is_error = stack.error != ErrorFrame::kNone,
                  .in_old_code = stack.in_old_code};
  if (outcome.stack == 0) {
    count(sampler, Counter::kStackStoreFull);
    outcome.stack = error_stack(ErrorFrame::kStackStoreFull);
    outcome.is_error = true;
  }
  return outcome;
}

// Lets `walk` fill a scratch buffer and stores what it has found, unless the visit has been
// declared gone meanwhile.
template <typename Walk>
Outcome walk_and_store(Sampler& sampler, const Generation& generation, ThreadEntry& entry,
                       Stay stay, Walk&& walk) {
  Scratch* scratch = take_scratch(sampler, static_cast<std::uint32_t>(&entry - sampler.threads));
  if (scratch == nullptr) {
    count(sampler, Counter::kNoScratch);
    return {.stack = error_stack(ErrorFrame::kNoScratch),
            .generation = load_relaxed(generation.info->number),
            .is_error = true};
  }
  stay.visit.scratch = static_cast<std::uint16_t>(scratch - sampler.scratch + 1);
  store_relaxed(scratch->tid, entry.tid);
  const WalkedStack stack = walk(generation, *scratch);
  if (!is_inside(stay.visit, stay.token)) {
    return {};
  }
  const Outcome outcome = keep(sampler, generation, scratch->frames, stack);
  stay.visit.scratch = 0;
  store_release(scratch->taken, std::uint32_t{0});
  return outcome;
}

void note_java_thread(Sampler& sampler, ThreadEntry& entry, std::uint64_t java_thread) {
  if (java_thread != 0 && load_relaxed(entry.java_thread) != java_thread) {
    store_relaxed(entry.java_thread, java_thread);
    sampler.names_wanted.store(1, std::memory_order_relaxed);
  }
}

// This thread's own stack, as it was interrupted.
WalkedStack walk_here(Sampler& sampler, const Generation& generation, const void* ucontext,
                      ThreadEntry& entry, Visit& visit, Scratch& scratch) {
  if (!may_load(entry, ucontext)) {
    scratch.frames[0] = wire::make_frame(wire::FrameKind::kError,
                                         static_cast<std::uint64_t>(ErrorFrame::kUnsafeState));
    WalkedStack nothing;
    nothing.depth = 1;
    nothing.error = ErrorFrame::kUnsafeState;
    return nothing;
  }
  const std::uint64_t java_thread = current_java_thread(sampler);
  note_java_thread(sampler, entry, java_thread);
  const std::uint32_t max_depth = load_relaxed(sampler.max_depth);
  if (sampler.call_trace != nullptr) {
    return walk_by_call_trace(sampler.vm, generation.names,
                              {.function = sampler.call_trace,
                               .ucontext = ucontext,
                               .java_thread = java_thread,
                               .frames = scratch.frames,
                               .guarded_sp = &scratch.guarded_sp,
                               .max_depth = max_depth});
  }
  const std::uint32_t modules = sampler.module_gate.enter();
  visit.modules = static_cast<std::uint8_t>(modules + 1);
  const bool checks = sampler.checks_cache;
  const auto walk = [&](wire::Frame* frames, bool cached) {
    StackWalker walker(sampler.vm, sampler.frozen.load(std::memory_order_acquire),
                       sampler.modules[modules], generation.names, frames,
                       checks && max_depth > kMaxScratchDepth / 2 ? kMaxScratchDepth / 2
                                                                  : max_depth);
    if (cached) {
      walker.use_cache(sampler.frame_cache, load_relaxed(generation.info->number));
    }
    walker.judge_age(sampler.old_code);
    return walker.walk(arch::read_registers(ucontext), java_thread,
                       reinterpret_cast<std::uint64_t>(ucontext));
  };
  WalkedStack stack = walk(scratch.frames, true);
  if (checks) {
    count(sampler, Counter::kCacheChecks);
    const bool same = is_same_without_cache(generation.names, walk, &stack, scratch.frames,
                                            scratch.frames + kMaxScratchDepth / 2);
    count(sampler, Counter::kCacheDifferences, same ? 0 : 1);
  }
  if (visit.modules != 0) { // otherwise somebody has given it back
    visit.modules = 0;
    sampler.module_gate.leave(modules);
  }
  return stack;
}

// Stores what the JVM said, with names.
WalkedStack name_found(const Sampler& sampler, const Generation& generation,
                       const FoundStack& found, wire::Frame* frames) {
  WalkedStack stack;
  if (found.depth == 0) {
    stack.depth = 1;
    frames[0] = wire::make_frame(wire::FrameKind::kError, static_cast<std::uint64_t>(found.error));
    stack.error = found.error == ErrorFrame::kNoJavaFrames ? ErrorFrame::kNone : found.error;
    return stack;
  }
  stack.depth = found.depth < kMaxScratchDepth ? found.depth : kMaxScratchDepth;
  stack.flags =
      found.truncated ? static_cast<std::uint16_t>(StackFlag::kTruncated) : std::uint16_t{0};
  for (std::uint32_t i = 0; i < stack.depth; ++i) {
    frames[i] =
        name_method_frame(sampler.vm, generation.names, found.frames[i], &stack.unnamed_frames);
    if (wire::frame_kind(frames[i]) == wire::FrameKind::kError) {
      stack.error = ErrorFrame::kNoMethod;
    }
  }
  return stack;
}

// Claims a number in the ring; ~0 if the reader has not made room.
std::uint64_t reserve_slot(Sampler& sampler) {
  std::uint64_t head = load_relaxed(sampler.header->ring_head);
  do {
    if (head - load_acquire(sampler.header->ring_tail) >= sampler.ring_capacity) {
      return ~std::uint64_t{0};
    }
  } while (!shared(sampler.header->ring_head)
                .compare_exchange_weak(head, head + 1, std::memory_order_relaxed));
  return head;
}

// Writes the sample that the visit has a slot for, and counts it.
void commit(Sampler& sampler, const ThreadEntry& entry, Visit& visit, const Outcome& outcome) {
  const auto thread = static_cast<std::uint32_t>(&entry - sampler.threads);
  const std::uint64_t number = visit.number;
  wire::SampleSlot& slot = sampler.ring[number % sampler.ring_capacity];
  slot.time_ns = visit.time_ns;
  slot.weight = visit.weight;
  slot.context = 0;
  slot.thread = thread;
  slot.tid = sampler.thread_slots[thread].tid;
  slot.generation = outcome.generation;
  slot.stack = outcome.stack;
  slot.link = 0;
  slot.event = static_cast<std::uint16_t>(wire::EventKind::kCpu);
  slot.state = static_cast<std::uint8_t>(wire::ThreadState::kRunning);
  slot.flags = 0;
  slot.reserved = 0;
  visit.number = kOutcomeTold;
  store_release(slot.ticket, number + 1);
  count(sampler, Counter::kWeight, visit.weight);
  if (outcome.in_old_code) {
    count(sampler, Counter::kOldCodeNanos, visit.weight);
  }
  count(sampler, outcome.is_error ? Counter::kOutcomeError : Counter::kOutcomeStack);
}

// Claims a slot for the visit's sample. If the reader has not made room, counts the loss and
// returns false.
bool reserve(Sampler& sampler, Visit& visit) {
  visit.number = reserve_slot(sampler);
  if (visit.number != kNoSlotYet) {
    return true;
  }
  visit.number = kOutcomeTold;
  count(sampler, Counter::kLostWeight, visit.weight);
  count(sampler, Counter::kOutcomeRingFull);
  return false;
}

template <typename Walk>
void record(Sampler& sampler, ThreadEntry& entry, Stay stay, Walk&& walk) {
  Visit& visit = stay.visit;
  if (!reserve(sampler, visit)) {
    return;
  }
  // Counted in until the sample is committed: a closed generation has all its samples in the ring,
  // so a reader may forget it once it has read both.
  const std::uint32_t which = sampler.generation_gate.enter();
  visit.generation = static_cast<std::uint8_t>(which + 1);
  const Outcome outcome = walk_and_store(sampler, sampler.generations[which], entry, stay, walk);
  if (!is_inside(visit, stay.token)) {
    return;
  }
  commit(sampler, entry, visit, outcome);
  visit.generation = 0;
  sampler.generation_gate.leave(which);
}

// False for a signal that was queued before its thread was disarmed or rearmed. A perf signal
// carries only the number of a descriptor, which may be another thread's event by now.
bool is_of_now(const Sampler& sampler, ThreadEntry& entry, const siginfo_t& info) {
  const std::uint32_t armed = load_acquire(entry.armed);
  if (info.si_code == SI_TIMER) {
    return armed == kArmedByTimer &&
           (!sampler.signals_carry_timer_id || info.si_timerid == load_relaxed(entry.timer));
  }
  return armed == kArmedByPerf && info.si_fd == load_relaxed(entry.timer) &&
         (load_relaxed(entry.quiet) != 0 || os::thread_id() == load_relaxed(entry.tid));
}

// The work of a visit.
void sample_in(Sampler& sampler, ThreadEntry& entry, Stay stay, const siginfo_t& info,
               const void* ucontext) {
  const std::uint64_t signals =
      shared(sampler.thread_slots[&entry - sampler.threads].signals).fetch_add(1);
  const std::uint64_t stands_for = load_relaxed(entry.interval_ns) >= kTimeEachNs ? 1 : kTimeOneOf;
  const bool quiet = load_relaxed(entry.quiet) != 0;
  const bool timed = !quiet && signals % stands_for == 0;
  const bool merged = info.si_code == SI_TIMER && info.si_overrun > 0; // perf does not say
  const std::uint64_t overruns = merged ? static_cast<std::uint64_t>(info.si_overrun) : 0;
  if (merged) {
    count(sampler, Counter::kOverruns, overruns);
  }
  const std::uint64_t begin = quiet ? 0 : thread_cpu_ns();
  if (quiet) {
    stay.visit.weight = take_weight(entry, overruns);
  } else {
    store_relaxed(entry.carried_ns, std::uint64_t{0}); // from a quiet time that is over
    const bool ticks = info.si_code == SI_TIMER && load_relaxed(entry.counts_ticks) != 0;
    stay.visit.weight =
        ticks ? account_ticks_to(entry, begin, (1 + overruns) * load_relaxed(entry.interval_ns))
              : account_to(entry, begin);
  }
  stay.visit.time_ns = quiet ? quiet_monotonic_ns(sampler) : monotonic_ns(sampler);
  if (sampler.waiting != nullptr) {
    note_java_thread(sampler, entry, may_load(entry, ucontext) ? current_java_thread(sampler) : 0);
    WaitingTime& waiting = sampler.waiting[&entry - sampler.threads];
    stay.visit.number = kOutcomeTold; // the agent's thread will tell the outcome
    add(waiting.weight, stay.visit.weight);
    add(waiting.signals, std::uint64_t{1});
    sampler.stacks_wanted.store(1, std::memory_order_relaxed);
  } else {
    record(sampler, entry, stay, [&](const Generation& generation, Scratch& scratch) {
      return walk_here(sampler, generation, ucontext, entry, stay.visit, scratch);
    });
  }
  if (quiet) {
    count(sampler, Counter::kHandlerNanos, load_relaxed(sampler.handler_ns));
  } else if (timed) {
    const std::uint64_t spent = thread_cpu_ns() - begin;
    count(sampler, Counter::kHandlerNanos, spent * stands_for);
    store_relaxed(sampler.handler_ns, (load_relaxed(sampler.handler_ns) * 7 + spent) / 8);
    raise_to(counter(sampler, Counter::kHandlerMaxNanos), spent);
  }
}

} // namespace

std::uint64_t monotonic_ns(const Sampler& sampler) {
  timespec now{};
  if (sampler.clock == nullptr || sampler.clock(CLOCK_MONOTONIC, &now) != 0) {
    arch::system_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
  }
  return nanoseconds(now);
}

std::uint64_t& counter(Sampler& sampler, Counter which) {
  return sampler.header->counters[static_cast<std::uint32_t>(which)];
}

void count(Sampler& sampler, Counter which, std::uint64_t amount) {
  add(counter(sampler, which), amount);
}

ThreadEntry* sender_of(const Sampler& sampler, const siginfo_t& info) {
  if (info.si_code == POLL_IN || info.si_code == POLL_HUP) {
    const auto fd = static_cast<std::uint32_t>(info.si_fd);
    const std::uint32_t slot =
        fd < sampler.perf_capacity ? load_relaxed(sampler.perf_slots[fd]) : 0U;
    return slot != 0 && slot <= sampler.thread_capacity ? &sampler.threads[slot - 1] : nullptr;
  }
  const auto at = reinterpret_cast<std::uint64_t>(info.si_value.sival_ptr);
  const auto first = reinterpret_cast<std::uint64_t>(sampler.threads);
  const bool ours = info.si_code == SI_TIMER && at >= first &&
                    at < first + sampler.thread_capacity * sizeof(ThreadEntry) &&
                    (at - first) % sizeof(ThreadEntry) == 0;
  return ours ? static_cast<ThreadEntry*>(info.si_value.sival_ptr) : nullptr;
}

bool take_sample(Sampler& sampler, ThreadEntry& entry, const siginfo_t& info,
                 const void* ucontext) {
  count(sampler, Counter::kEntered);
  if (!is_of_now(sampler, entry, info)) {
    count(sampler, Counter::kOutcomeStale);
    return true;
  }
  Visit& visit = sampler.visits[&entry - sampler.threads];
  std::uint32_t token = enter(visit, ucontext);
  if (const std::uint32_t open = token == 0 ? open_visit(visit) : 0;
      open != 0 && is_left_behind_by(visit, ucontext) && end_visit(sampler, entry, open)) {
    token = enter(visit, ucontext);
  }
  if (token == 0) {
    count(sampler, Counter::kOutcomeNested);
    return true;
  }
  // The agent's thread may have disarmed it in between: it first disarms, then looks for an open
  // visit, and if there is none it may assume that no handler continues.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!is_of_now(sampler, entry, info)) {
    const bool returned = leave(visit, token);
    count(sampler, Counter::kOutcomeStale, returned ? 1 : 0);
    return returned;
  }
  sample_in(sampler, entry, {.visit = visit, .token = token}, info, ucontext);
  return leave(visit, token);
}

// A handler that jumped out has left the thread's account as it was: time and weight stay right.
bool end_visit(Sampler& sampler, ThreadEntry& entry, std::uint32_t token) {
  Visit& visit = sampler.visits[&entry - sampler.threads];
  if (!begin_ending(visit, token)) {
    return false;
  }
  if (visit.scratch != 0) {
    Scratch& scratch = sampler.scratch[visit.scratch - 1];
    store_relaxed(scratch.guarded_sp, std::uint64_t{0});
    store_release(scratch.taken, std::uint32_t{0});
  }
  if (visit.modules != 0) {
    sampler.module_gate.leave(visit.modules - 1U);
    visit.modules = 0;
  }
  const std::uint32_t which =
      visit.generation != 0 ? visit.generation - 1U : sampler.generation_gate.enter();
  if (visit.number != kOutcomeTold && (visit.number != kNoSlotYet || reserve(sampler, visit))) {
    commit(sampler, entry, visit,
           {.stack = error_stack(ErrorFrame::kJumpedOut),
            .generation = load_relaxed(sampler.generations[which].info->number),
            .is_error = true});
  }
  sampler.generation_gate.leave(which);
  finish_ending(visit, token);
  count_out();
  return true;
}

void record_waiting(Sampler& sampler, ThreadEntry& entry, const FoundStack& found) {
  WaitingTime& waiting = sampler.waiting[&entry - sampler.threads];
  const std::uint64_t signals = shared(waiting.signals).exchange(0, std::memory_order_acquire);
  std::uint64_t weight =
      signals == 0 ? 0 : shared(waiting.weight).exchange(0, std::memory_order_relaxed);
  Visit visit; // nobody's: the agent's thread returns
  visit.time_ns = monotonic_ns(sampler);
  for (std::uint64_t left = signals; left != 0; --left) {
    visit.weight = weight / left;
    weight -= visit.weight;
    record(sampler, entry, {.visit = visit}, [&](const Generation& generation, Scratch& scratch) {
      return name_found(sampler, generation, found, scratch.frames);
    });
  }
}

std::int32_t thread_in_handler(const Sampler& sampler) {
  for (std::uint32_t i = 0; i < sampler.thread_capacity; ++i) {
    if (open_visit(sampler.visits[i]) != 0) {
      return sampler.threads[i].tid;
    }
  }
  return 0;
}

} // namespace jprof::agent::sampling
