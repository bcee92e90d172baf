// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/recording/thread_table.h"

#include "agent/arch/safe_load.h"
#include "agent/engines/cpu_timer.h"
#include "agent/engines/perf_clock.h"
#include "agent/os/process.h"
#include "agent/os/system.h"
#include "agent/recording/thread_change.h"
#include "agent/sampling/account.h"
#include "agent/sampling/shared_memory.h"

#include <atomic>
#include <errno.h>

namespace jprof::agent::recording {
namespace {

using sampling::ThreadEntry;
using wire::Counter;
using wire::ThreadFlag;

constexpr std::uint64_t kScanEveryNs = 20'000'000;
// A scan that takes t is followed by a pause of this many t. The second factor applies if births
// are found without scans, which then only find ended threads and check the births.
constexpr std::uint64_t kScanCostFactor = 1000;
constexpr std::uint64_t kCheckCostFactor = 4000;
constexpr std::uint64_t kReuseAfterNs = 2'000'000'000;
constexpr std::uint32_t kFewMissed = 3;        // creating a thread may be slow
constexpr std::uint16_t kMaxSkippedLooks = 15; // eight seconds, for a thread that does nothing
// A thread that sandboxes itself does so early: soon after it begins, or, if it has to wait, within
// this much CPU time.
constexpr std::uint64_t kQuietNs = 250'000'000;
constexpr std::uint64_t kQuietCpuNs = 10'000'000;
constexpr std::uint64_t kMaxTickNs = 10'000'000; // CONFIG_HZ=100
constexpr std::size_t kMaxAgentThreads = 8;

std::atomic<std::int32_t> g_agent_threads[kMaxAgentThreads];

bool is_agent_thread(std::int32_t tid) {
  for (auto& known : g_agent_threads) {
    if (known.load() == tid) {
      return true;
    }
  }
  return false;
}

std::uint64_t now_ns() {
  return os::clock_ns(CLOCK_MONOTONIC);
}

// Notes, once the timer is gone, how much CPU time the thread has used and how much of it is in no
// sample. A thread that has ended no longer has a clock (`cpu` is 0): then the last look and its
// samples say how much it used.
void close_account(wire::ThreadSlot& record, ThreadEntry& entry, std::uint64_t cpu) {
  const std::uint64_t used = cpu > record.cpu_at_disarm_ns ? cpu : record.cpu_at_disarm_ns;
  record.rest_ns = sampling::account_to(entry, used);
  const std::uint64_t accounted = sampling::load_relaxed(entry.accounted_ns);
  record.cpu_at_disarm_ns = accounted > used ? accounted : used;
}

} // namespace

void register_agent_thread(std::int32_t tid) {
  for (auto& known : g_agent_threads) {
    std::int32_t none = 0;
    if (known.compare_exchange_strong(none, tid)) {
      return;
    }
  }
}

void forget_agent_thread(std::int32_t tid) {
  for (auto& known : g_agent_threads) {
    std::int32_t expected = tid;
    known.compare_exchange_strong(expected, 0);
  }
}

void ThreadTable::begin(sampling::Sampler* sampler, const PrivateTables& tables, int signal,
                        std::uint64_t interval_ns, wire::Engine engine) {
  *this = ThreadTable{};
  sampler_ = sampler;
  tables_ = tables;
  signal_ = signal;
  interval_ns_ = interval_ns;
  index_ = ThreadIndex(sampler->threads, tables.thread_index, tables.thread_index_mask);
  random_ = os::clock_ns(CLOCK_REALTIME) | 1;
  begun_ns_ = now_ns();
  std::uint64_t queued = 0;
  std::uint64_t limit = 0;
  timer_budget_ = os::queued_signals(&queued, &limit) && limit > queued ? (limit - queued) / 2 : 0;
  if (engine == wire::Engine::kPerfClock) {
    const std::uint32_t refusal = engines::perf_refusal(signal);
    sampling::store_relaxed(sampling::counter(*sampler, Counter::kPerfRefusal),
                            std::uint64_t{refusal});
    perf_budget_ = refusal == 0 ? engines::perf_budget() : 0;
    engine_ = refusal == 0 ? engine : wire::Engine::kCpuTimer;
  }
}

void ThreadTable::arm_first() {
  births_.open(); // before the scan: threads that begin during it are new
  births_known_ = births_.is_open();
  names_later_ = true;
  scan();
  names_later_ = false;
}

void ThreadTable::tick(std::uint64_t now) {
  scan_if_due(now);
  look_at_young(now);
  share_timers(now);
  name_new_threads();
}

void ThreadTable::scan_if_due(std::uint64_t now) {
  if (now >= next_scan_ns_) {
    // CPU time, not elapsed time, which on a crowded machine belongs to others.
    const std::uint64_t cpu_before = os::clock_ns(CLOCK_THREAD_CPUTIME_ID);
    scan();
    const std::uint64_t cost = os::clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
    const auto after = [&](std::uint64_t factor) {
      return now + (cost * factor > kScanEveryNs ? cost * factor : kScanEveryNs);
    };
    earliest_scan_ns_ = after(kScanCostFactor);
    next_scan_ns_ = births_known_ ? after(kCheckCostFactor) : earliest_scan_ns_;
  }
}

void ThreadTable::scan() {
  ++scan_number_;
  refused_ = 0;
  const bool complete = os::visit_threads(
      [](std::int32_t tid, void* context) { static_cast<ThreadTable*>(context)->see(tid); }, this);
  sampling::raise_to(sampling::counter(*sampler_, Counter::kThreadSlotsFull),
                     std::uint64_t{refused_});
  if (!complete) {
    all_seen_ = all_seen_ && !names_later_;
    return;
  }
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    const ThreadEntry& entry = sampler_->threads[slot];
    if (entry.tid != 0 && entry.seen != scan_number_) {
      retire(slot);
    }
  }
  index_.tidy(used_);
}

// True if the thread has ended and its id has been given to another one.
bool ThreadTable::is_another(const ThreadEntry& entry) {
  return entry.armed == sampling::kArmedByTimer ? engines::cpu_timer_is_dead(entry)
                                                : runs_backwards(entry);
}

void ThreadTable::see(std::int32_t tid) {
  std::uint32_t slot = 0;
  bool was_taken = false; // by a thread that may be this one, whose time has then been counted
  if (index_.find(tid, &slot)) {
    if (!is_another(sampler_->threads[slot])) {
      sampler_->threads[slot].seen = scan_number_;
      return;
    }
    was_taken = !runs_backwards(sampler_->threads[slot]);
    retire(slot);
  }
  if (is_agent_thread(tid) || (was_taken && !engines::has_cpu_clock(tid))) {
    return;
  }
  if (!take_slot(&slot)) {
    ++refused_;
    all_seen_ = all_seen_ && !names_later_;
    return;
  }
  bool born = false;
  if (!names_later_) {
    born = finding_births_ || (births_.is_open() ? births_.is_since_open(tid) : all_seen_);
    born_found_ += finding_births_ ? 1U : 0U;
    born_missed_ += finding_births_ || !born || births_.is_since_look(tid) ? 0U : 1U;
    // If false, the kernel's last id is not what it should be: only scans find births from now on.
    births_known_ = births_known_ && born_missed_ <= kFewMissed + born_found_ / 16;
  }
  take(slot, tid, born && !was_taken);
}

// `born`: the thread began during the session.
void ThreadTable::take(std::uint32_t slot, std::int32_t tid, bool born) {
  const std::uint64_t now = now_ns();
  ThreadEntry& entry = sampler_->threads[slot];
  entry.tid = tid;
  entry.seen = scan_number_;
  entry.quiet = names_later_ ? sampling::kQuietUntilSeen : sampling::kQuietUntilOld;
  entry.java_thread = 0;
  entry.named_after = 0;
  entry.name_tries = 0;
  tables_.notes[slot] = ThreadNote{.born_ns = born ? now : 0, .moved_ns = now};
  last_birth_ns_ = born ? now : last_birth_ns_;
  index_.insert(tid, slot);
  change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
    const std::uint32_t incarnation = record.incarnation + 1;
    const std::uint32_t sequence = record.seq;
    record = wire::ThreadSlot{};
    record.seq = sequence;
    record.incarnation = incarnation;
    record.tid = static_cast<std::uint32_t>(tid);
  });
  arm(slot);
  if (entry.tid != 0 && !names_later_ && may_name(now)) {
    name_by_kernel(slot);
  }
}

void ThreadTable::retire(std::uint32_t slot) {
  ThreadEntry& entry = sampler_->threads[slot];
  index_.remove(entry.tid);
  if (entry.armed != 0) {
    disarm(entry);
  }
  waiting_ -= tables_.notes[slot].waits;
  tables_.notes[slot].waits = 0;
  entry.tid = 0;
  change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
    close_account(record, entry, 0);
    record.disarmed_ns = now_ns();
    record.flags = static_cast<std::uint16_t>(record.flags & ~flag(ThreadFlag::kArmed));
  });
}

// True if the thread's clock has advanced since the last look. The clock of an ended thread reads
// 0.
bool ThreadTable::note_cpu(std::uint32_t slot, std::uint64_t cpu, std::uint64_t now) {
  wire::ThreadSlot& record = tables_.thread_slots[slot];
  if (cpu <= record.cpu_at_disarm_ns) {
    return false;
  }
  change(record, [&](wire::ThreadSlot& changed) { changed.cpu_at_disarm_ns = cpu; });
  tables_.notes[slot].moved_ns = now;
  return true;
}

void ThreadTable::update() {
  const std::uint64_t now = now_ns();
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    ThreadEntry& entry = sampler_->threads[slot];
    ThreadNote& note = tables_.notes[slot];
    look_for_sandbox_before_loads(slot);
    if (note.looks_to_skip != 0) {
      --note.looks_to_skip;
      continue;
    }
    if (entry.tid == 0) {
      continue;
    }
    const std::uint64_t cpu = engines::thread_cpu_ns(entry.tid);
    if (!note_cpu(slot, cpu, now)) {
      const unsigned longer = note.skipped_last * 2U + 1;
      note.skipped_last =
          static_cast<std::uint16_t>(longer < kMaxSkippedLooks ? longer : kMaxSkippedLooks);
      note.looks_to_skip = note.skipped_last;
      continue;
    }
    note.skipped_last = 0;
    const bool blocks = looks_blocked(slot, cpu) && os::blocks_signal(entry.tid, signal_);
    if (blocks) {
      stop_signalling(slot);
    } else if (note.mask_looks_apart != 0) {
      signal_again(slot);
    }
    if (sampling::load_relaxed(entry.java_thread) != 0) {
      name(slot); // a thread may be renamed
    }
    if (entry.quiet != 0 && entry.armed != 0) {
      look_for_sandbox(slot);
    }
  }
}

// A seccomp filter of the thread's own may answer any system call by killing the process, even the
// return from a signal handler: such a thread is left alone.
void ThreadTable::look_for_sandbox(std::uint32_t slot) {
  ThreadEntry& entry = sampler_->threads[slot];
  os::Seccomp theirs;
  if (!seccomp_known_ || !os::read_seccomp(entry.tid, &theirs)) {
    return; // it stays quiet
  }
  if (seccomp_.is_wider_than(theirs)) {
    disarm(entry);
    change(tables_.thread_slots[slot], [](wire::ThreadSlot& record) {
      record.flags = static_cast<std::uint16_t>((record.flags & ~flag(ThreadFlag::kArmed)) |
                                                flag(ThreadFlag::kSandboxed));
    });
  } else if (entry.quiet == sampling::kQuietUntilSeen ||
             (now_ns() - tables_.thread_slots[slot].armed_ns >= kQuietNs &&
              engines::thread_cpu_ns(entry.tid) >= kQuietCpuNs)) {
    sampling::store_relaxed(entry.quiet, std::uint16_t{0});
    if (entry.armed == sampling::kArmedByTimer) {
      engines::count_ticks(entry, signal_, random_phase_ns());
    }
  }
}

// If each load is a system call, a thread has no stacks until we have looked, so this also looks at
// threads that have not worked yet.
void ThreadTable::look_for_sandbox_before_loads(std::uint32_t slot) {
  const ThreadEntry& entry = sampler_->threads[slot];
  if (entry.quiet != 0 && entry.armed != 0 && arch::kernel_loads()) {
    look_for_sandbox(slot);
  }
}

// For threads without a timer of ours: a clock that shows less than before belongs to another
// thread.
bool ThreadTable::runs_backwards(const ThreadEntry& entry) {
  const auto& record = tables_.thread_slots[&entry - sampler_->threads];
  return engines::thread_cpu_ns(entry.tid) < record.cpu_at_disarm_ns;
}

// True if a thread has worked for a while without a signal, so that its mask is worth a look.
bool ThreadTable::looks_blocked(std::uint32_t slot, std::uint64_t cpu) const {
  ThreadEntry& entry = sampler_->threads[slot];
  const std::uint64_t expected = interval_ns_ > kMaxTickNs ? interval_ns_ : kMaxTickNs;
  const auto silent = static_cast<std::int64_t>(cpu - sampling::load_relaxed(entry.accounted_ns));
  return entry.armed != 0 && silent > static_cast<std::int64_t>(3 * expected);
}

void ThreadTable::set_interval(std::uint64_t interval_ns) {
  interval_ns_ = interval_ns;
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    ThreadEntry& entry = sampler_->threads[slot];
    if (entry.armed == sampling::kArmedByPerf) {
      engines::change_perf_clock(entry, interval_ns);
    } else if (entry.armed != 0) {
      engines::change_cpu_timer(entry, interval_ns);
    }
  }
}

// The clocks are read when all timers are gone, in quick succession and right before the process's
// clock, which their sum is compared with.
void ThreadTable::disarm_all() {
  births_.close();
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    if (sampler_->threads[slot].tid != 0 && sampler_->threads[slot].armed != 0) {
      disarm(sampler_->threads[slot]);
    }
  }
  const std::uint64_t now = now_ns();
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    ThreadEntry& entry = sampler_->threads[slot];
    if (entry.tid == 0) {
      continue;
    }
    const std::uint64_t cpu = engines::thread_cpu_ns(entry.tid); // 0: it has ended
    change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
      close_account(record, entry, cpu);
      record.disarmed_ns = now;
      record.flags = static_cast<std::uint16_t>(record.flags & ~flag(ThreadFlag::kArmed));
      if (sampling::load_relaxed(entry.java_thread) != 0) {
        record.flags = static_cast<std::uint16_t>(record.flags | flag(ThreadFlag::kJava));
      }
    });
  }
}

// Takes a fresh slot, or that of a thread that ended so long ago that the reader has all its
// samples.
bool ThreadTable::take_slot(std::uint32_t* slot) {
  if (used_ < sampler_->thread_capacity) {
    *slot = used_++;
    return true;
  }
  const std::uint64_t now = now_ns();
  for (std::uint32_t i = 0; i < used_; ++i) {
    const std::uint64_t ended = tables_.thread_slots[i].disarmed_ns;
    if (sampler_->threads[i].tid == 0 && ended != 0 && ended + kReuseAfterNs < now &&
        sampling::open_visit(sampler_->visits[i]) == 0) {
      *slot = i;
      return true;
    }
  }
  return false;
}

} // namespace jprof::agent::recording
