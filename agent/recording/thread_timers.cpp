// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
// How ThreadTable gives timers to threads, and shares them out where there are too few.
#include "agent/engines/cpu_timer.h"
#include "agent/engines/perf_clock.h"
#include "agent/os/process.h"
#include "agent/os/system.h"
#include "agent/recording/thread_change.h"
#include "agent/recording/thread_table.h"
#include "agent/sampling/shared_memory.h"

#include <errno.h>

namespace jprof::agent::recording {
namespace {

using sampling::ThreadEntry;
using wire::Counter;
using wire::ThreadFlag;

constexpr std::uint16_t kMaxSkippedLooks = 15; // at the mask, as at the CPU clock
// How often we look at the threads that wait for a timer: at most once per period, and so rarely
// that it takes no more than a thousandth of a CPU.
constexpr std::uint64_t kShareEveryNs = 100'000'000;
constexpr std::uint64_t kShareCostFactor = 1000;
constexpr std::uint32_t kMaxMoves = 8;  // between two looks, some 20 us each
constexpr std::uint32_t kMaxTries = 32; // ... of threads that turned out to be at work
// A timer can be taken from a thread that has not run for kIdleNs or, if all have, from one that
// has held it for kHeldNs.
constexpr std::uint64_t kIdleNs = 250'000'000;
constexpr std::uint64_t kHeldNs = 250'000'000;

} // namespace

// 0 or -errno.
long ThreadTable::arm_by_engine(std::uint32_t slot) {
  ThreadEntry& entry = sampler_->threads[slot];
  if (engine_ == wire::Engine::kPerfClock && perf_budget_ > 0 &&
      engines::arm_perf_clock(*sampler_, entry, signal_, interval_ns_) == 0) {
    --perf_budget_;
  } else {
    const long result =
        timers_ < timer_budget_
            ? engines::arm_cpu_timer(entry, signal_, interval_ns_, random_phase_ns())
            : -EAGAIN;
    if (result != 0) {
      return result;
    }
    ++timers_;
    if (entry.quiet == 0) {
      engines::count_ticks(entry, signal_, random_phase_ns());
    }
  }
  ++armed_;
  ThreadNote& note = tables_.notes[slot];
  note.timer_ns = os::clock_ns(CLOCK_MONOTONIC);
  if (note.had_timer == 0) {
    note.had_timer = 1;
    sampling::count(*sampler_, Counter::kThreadsArmed);
    if (engine_ == wire::Engine::kPerfClock && entry.armed == sampling::kArmedByTimer) {
      sampling::count(*sampler_, Counter::kThreadsByTimer);
    }
  }
  return 0;
}

void ThreadTable::disarm(ThreadEntry& entry) {
  if (entry.armed == sampling::kArmedByPerf) {
    engines::disarm_perf_clock(entry);
    ++perf_budget_;
  } else {
    engines::disarm_cpu_timer(entry);
    --timers_;
  }
  --armed_;
}

// Accounts for a thread that began during the session from its first nanosecond, however late it is
// found.
void ThreadTable::arm(std::uint32_t slot) {
  ThreadEntry& entry = sampler_->threads[slot];
  const std::uint64_t cpu = engines::thread_cpu_ns(entry.tid);
  const std::uint64_t now = os::clock_ns(CLOCK_MONOTONIC);
  const bool born = tables_.notes[slot].born_ns != 0 && cpu <= now - begun_ns_;
  const std::uint64_t accounted = born ? 0 : cpu;
  sampling::store_relaxed(entry.accounted_ns, accounted); // also for a thread that gets no timer
  long result = arm_by_engine(slot);
  if (result == -EAGAIN && !names_later_ && free_timer_of_idle(now)) {
    result = arm_by_engine(slot);
  }
  if (result != 0 && !engines::has_cpu_clock(entry.tid)) {
    retire(slot); // it has ended meanwhile
    return;
  }
  if (result == 0) {
    first_armed_ns_ = first_armed_ns_ != 0 ? first_armed_ns_ : now;
  } else {
    ++failed_;
    last_error_ = result;
    sampling::count(*sampler_, Counter::kThreadsNeverArmed);
    if (result == -EAGAIN) {
      sampling::count(*sampler_, Counter::kTimerLimit);
      wait_for_timer(slot);
    }
  }
  change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
    record.cpu_at_arm_ns = accounted;
    record.cpu_at_disarm_ns = cpu;
    record.armed_ns = now;
    record.flags = flag(result == 0 ? ThreadFlag::kArmed : ThreadFlag::kNeverArmed);
  });
}

// A random phase, so that threads started together do not signal together.
std::uint64_t ThreadTable::random_phase_ns() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_ % interval_ns_ + 1;
}

void ThreadTable::wait_for_timer(std::uint32_t slot) {
  tables_.notes[slot].waits = 1;
  ++waiting_;
}

// A thread that had no timer has one now. Its first sample stands for all the time since its last
// one, so none is missing.
void ThreadTable::note_timer(std::uint32_t slot) {
  waiting_ -= tables_.notes[slot].waits;
  tables_.notes[slot].waits = 0;
  change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
    if ((record.flags & flag(ThreadFlag::kNeverArmed)) != 0) {
      sampling::count(*sampler_, Counter::kThreadsNeverArmed, ~std::uint64_t{0}); // one less
    }
    const unsigned without = flag(ThreadFlag::kNeverArmed) | flag(ThreadFlag::kSignalBlocked);
    record.flags = static_cast<std::uint16_t>((record.flags & ~without) | flag(ThreadFlag::kArmed));
  });
}

// The CPU time of a thread without a timer is accounted for all the same, but only a timer shows
// where it was spent.
void ThreadTable::share_timers(std::uint64_t now) {
  if (now < next_share_ns_) {
    return;
  }
  const std::uint64_t cpu_before = os::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  moves_left_ = kMaxMoves;
  tries_left_ = kMaxTries;
  std::uint64_t pause = kShareEveryNs;
  if (waiting_ != 0) {
    for (std::uint32_t i = 0; i < used_; ++i) {
      const std::uint32_t slot = share_from_ < used_ ? share_from_ : 0;
      if (tables_.notes[slot].waits != 0 && !look_at_waiting(slot, now)) {
        break; // this one is the first next time
      }
      share_from_ = slot + 1;
    }
    const std::uint64_t cost =
        (os::clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before) * kShareCostFactor;
    pause = cost > pause ? cost : pause;
  }
  next_share_ns_ = now + pause;
}

// False if it needs a timer and none can be had, so there is none for the others either. If all
// threads work, a timer goes to one that has worked for a whole interval.
bool ThreadTable::look_at_waiting(std::uint32_t slot, std::uint64_t now) {
  ThreadEntry& entry = sampler_->threads[slot];
  const std::uint64_t cpu = engines::thread_cpu_ns(entry.tid);
  if (!note_cpu(slot, cpu, now) || sampling::is_open(sampler_->visits[slot])) {
    return true; // it is idle, or still handling the last signal of its last timer
  }
  long result = arm_by_engine(slot);
  if (result == -EAGAIN) {
    const bool is_due = cpu - sampling::load_relaxed(entry.accounted_ns) >= interval_ns_;
    if (!free_timer_of_idle(now) && (!is_due || !free_timer_of_busy(now))) {
      return !is_due && moves_left_ != 0;
    }
    result = arm_by_engine(slot);
    moves_left_ = result == 0 ? moves_left_ : 0; // another process has taken what was free
  }
  if (result == 0) {
    note_timer(slot);
  }
  return true;
}

// Finds the armed thread whose `since` is longest ago, if that is before `before_ns`.
template <typename Since>
bool ThreadTable::find_longest(Since&& since, std::uint64_t before_ns, std::uint32_t* slot) const {
  bool found = false;
  for (std::uint32_t i = 0; i < used_; ++i) {
    ThreadEntry& entry = sampler_->threads[i];
    if (entry.tid != 0 && entry.armed != 0 && since(tables_.notes[i]) < before_ns &&
        !sampling::is_open(sampler_->visits[i])) {
      before_ns = since(tables_.notes[i]);
      *slot = i;
      found = true;
    }
  }
  return found;
}

// Takes the timer of the thread that has not run for longest, if its clock says that it still has
// not.
bool ThreadTable::free_timer_of_idle(std::uint64_t now) {
  std::uint32_t slot = 0;
  while (moves_left_ != 0 && tries_left_ != 0 &&
         find_longest([](const ThreadNote& note) { return note.moved_ns; }, now - kIdleNs, &slot)) {
    const std::int32_t tid = sampler_->threads[slot].tid;
    const std::uint64_t cpu = engines::thread_cpu_ns(tid);
    if (cpu == 0 && !engines::has_cpu_clock(tid)) {
      retire(slot);
      return true;
    }
    if (!note_cpu(slot, cpu, now)) {
      take_timer_away(slot);
      return true;
    }
    --tries_left_;
  }
  tries_left_ = 0; // no thread is idle: the next ones that need a timer need not look again
  return false;
}

// If all threads work, they take turns, each long enough to be sampled.
bool ThreadTable::free_timer_of_busy(std::uint64_t now) {
  std::uint32_t slot = 0;
  if (moves_left_ == 0 ||
      !find_longest([](const ThreadNote& note) { return note.timer_ns; }, now - kHeldNs, &slot)) {
    return false;
  }
  take_timer_away(slot);
  return true;
}

// The thread's account continues: a signal that its timer has already sent is rejected as stale and
// takes no time with it.
void ThreadTable::take_timer_away(std::uint32_t slot) {
  disarm(sampler_->threads[slot]);
  wait_for_timer(slot);
  --moves_left_;
  sampling::count(*sampler_, Counter::kTimersMoved);
  change(tables_.thread_slots[slot], [](wire::ThreadSlot& record) {
    record.flags = static_cast<std::uint16_t>(record.flags & ~flag(ThreadFlag::kArmed));
  });
}

// A thread that blocks our signal may wait for signals, and would receive ours as if somebody had
// sent it. Its time is still accounted for.
void ThreadTable::stop_signalling(std::uint32_t slot) {
  disarm(sampler_->threads[slot]);
  tables_.notes[slot].mask_looks_to_skip = 0;
  tables_.notes[slot].mask_looks_apart = 1;
  change(tables_.thread_slots[slot], [](wire::ThreadSlot& record) {
    const unsigned blocked = sampling::load_relaxed(record.signals) == 0
                                 ? flag(ThreadFlag::kSignalBlocked)
                                 : 0U; // some of its time is in samples
    record.flags = static_cast<std::uint16_t>((record.flags & ~flag(ThreadFlag::kArmed)) | blocked);
  });
}

// Arms the thread again if it no longer blocks our signal; looks less and less often.
void ThreadTable::signal_again(std::uint32_t slot) {
  ThreadNote& note = tables_.notes[slot];
  if (note.mask_looks_to_skip != 0) {
    --note.mask_looks_to_skip;
    return;
  }
  if (os::blocks_signal(sampler_->threads[slot].tid, signal_) || arm_by_engine(slot) != 0) {
    note.mask_looks_to_skip = note.mask_looks_apart;
    const unsigned longer = note.mask_looks_apart * 2U + 1;
    note.mask_looks_apart =
        static_cast<std::uint16_t>(longer < kMaxSkippedLooks ? longer : kMaxSkippedLooks);
    return;
  }
  note.mask_looks_apart = 0;
  note_timer(slot);
}

} // namespace jprof::agent::recording
