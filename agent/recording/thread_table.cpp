// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/recording/thread_table.h"

#include "agent/engines/cpu_timer.h"
#include "agent/engines/perf_clock.h"
#include "agent/os/process.h"
#include "agent/os/system.h"
#include "agent/sampling/shared_memory.h"

#include <atomic>
#include <errno.h>

namespace jprof::agent::recording {
namespace {

using sampling::store_release;
using sampling::ThreadEntry;
using wire::Counter;
using wire::ThreadFlag;

constexpr std::uint64_t kScanEveryNs = 20'000'000;
constexpr std::uint64_t kScanCostFactor = 1000; // a scan of t is followed by 1000 t without one
constexpr std::uint64_t kReuseAfterNs = 2'000'000'000;
constexpr std::uint32_t kRemoved = 0xffffffff; // an index entry whose thread has ended
constexpr std::uint32_t kMostNameTries = 100;  // one each 20 ms, then with the CPU times
constexpr unsigned kLastNameTries = 10;
constexpr std::uint64_t kQuietNs = 250'000'000;      // a thread that sandboxes itself does it early
constexpr std::uint64_t kLongestTickNs = 10'000'000; // CONFIG_HZ=100
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

std::uint16_t flag(ThreadFlag value) {
  return static_cast<std::uint16_t>(value);
}

// Readers take a slot whose sequence number is even and the same before and after.
template <typename Change>
void change(wire::ThreadSlot& slot, Change&& apply) {
  store_release(slot.seq, slot.seq + 1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  apply(slot);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  store_release(slot.seq, slot.seq + 1);
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
  random_ = os::clock_ns(CLOCK_REALTIME) | 1;
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
  names_later_ = true;
  scan();
  names_later_ = false;
}

void ThreadTable::name_first() {
  seccomp_known_ = os::read_seccomp(os::thread_id(), &seccomp_);
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    if (sampler_->threads[slot].tid != 0) {
      name_by_kernel(slot);
    }
  }
}

void ThreadTable::scan_if_due(std::uint64_t now) {
  if (now >= next_scan_ns_) {
    scan();
    const std::uint64_t cost = now_ns() - now;
    next_scan_ns_ =
        now + (cost * kScanCostFactor > kScanEveryNs ? cost * kScanCostFactor : kScanEveryNs);
  }
}

void ThreadTable::scan() {
  ++scan_number_;
  const bool complete = os::visit_threads(
      [](std::int32_t tid, void* context) { static_cast<ThreadTable*>(context)->see(tid); }, this);
  if (!complete) {
    return;
  }
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    const ThreadEntry& entry = sampler_->threads[slot];
    if (entry.tid != 0 && entry.seen != scan_number_) {
      retire(slot);
    }
  }
  if (index_garbage_ > sampler_->thread_capacity / 2) {
    rebuild_index();
  }
}

void ThreadTable::see(std::int32_t tid) {
  std::uint32_t at = 0;
  if (find_slot(tid, &at)) {
    sampler_->threads[tables_.thread_index[at] - 1].seen = scan_number_;
    return;
  }
  if (is_agent_thread(tid)) {
    return;
  }
  std::uint32_t slot = 0;
  if (!take_slot(&slot)) {
    // Seen again in each scan: counted once for each time the table was full.
    sampling::count(*sampler_, Counter::kThreadSlotsFull);
    return;
  }
  ThreadEntry& entry = sampler_->threads[slot];
  entry.tid = tid;
  entry.seen = scan_number_;
  entry.quiet = names_later_ ? sampling::kQuietUntilSeen : sampling::kQuietUntilOld;
  entry.java_thread = 0;
  entry.named_after = 0;
  entry.name_tries = 0;
  index_insert(tid, slot);
  change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
    const std::uint32_t incarnation = record.incarnation + 1;
    const std::uint32_t sequence = record.seq;
    record = wire::ThreadSlot{};
    record.seq = sequence;
    record.incarnation = incarnation;
    record.tid = static_cast<std::uint32_t>(tid);
  });
  if (!names_later_) {
    name_by_kernel(slot);
  }
  arm(slot);
}

void ThreadTable::name_by_kernel(std::uint32_t slot) {
  char name[16];
  const std::size_t bytes = os::thread_name(sampler_->threads[slot].tid, name, sizeof name);
  change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
    record.name_bytes = static_cast<std::uint16_t>(bytes);
    os::copy_bytes(record.name, name, bytes);
  });
}

// 0 or -errno.
long ThreadTable::arm_by_engine(ThreadEntry& entry) {
  if (engine_ == wire::Engine::kPerfClock) {
    if (perf_budget_ > 0 && engines::arm_perf_clock(*sampler_, entry, signal_, interval_ns_) == 0) {
      --perf_budget_;
      return 0;
    }
    sampling::count(*sampler_, Counter::kThreadsByTimer);
  }
  return armed_ < timer_budget_
             ? engines::arm_cpu_timer(entry, signal_, interval_ns_, first_signal_ns())
             : -EAGAIN;
}

void ThreadTable::disarm(ThreadEntry& entry) {
  if (entry.armed == sampling::kArmedByPerf) {
    engines::disarm_perf_clock(entry);
    ++perf_budget_;
  } else {
    engines::disarm_cpu_timer(entry);
  }
  --armed_;
}

void ThreadTable::arm(std::uint32_t slot) {
  ThreadEntry& entry = sampler_->threads[slot];
  const std::uint64_t cpu = engines::thread_cpu_ns(entry.tid);
  const long result = arm_by_engine(entry);
  const std::uint64_t now = now_ns();
  if (result == 0) {
    ++armed_;
    first_armed_ns_ = first_armed_ns_ != 0 ? first_armed_ns_ : now;
    sampling::count(*sampler_, Counter::kThreadsArmed);
  } else {
    ++failed_;
    last_error_ = result;
    sampling::count(*sampler_, Counter::kThreadsNeverArmed);
    if (result == -EAGAIN) {
      sampling::count(*sampler_, Counter::kTimerLimit);
    }
  }
  change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
    record.cpu_at_arm_ns = cpu;
    record.cpu_at_disarm_ns = cpu;
    record.armed_ns = now;
    record.flags = flag(result == 0 ? ThreadFlag::kArmed : ThreadFlag::kNeverArmed);
  });
}

// A random phase, so that threads started together do not signal together, and a sample stands for
// the interval around it.
std::uint64_t ThreadTable::first_signal_ns() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_ % interval_ns_ + 1;
}

void ThreadTable::retire(std::uint32_t slot) {
  ThreadEntry& entry = sampler_->threads[slot];
  std::uint32_t at = 0;
  if (find_slot(entry.tid, &at)) {
    tables_.thread_index[at] = kRemoved;
    ++index_garbage_;
  }
  if (entry.armed != 0) {
    disarm(entry);
  }
  entry.tid = 0;
  change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
    record.disarmed_ns = now_ns();
    record.flags = static_cast<std::uint16_t>(record.flags & ~flag(ThreadFlag::kArmed));
  });
}

void ThreadTable::update() {
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    ThreadEntry& entry = sampler_->threads[slot];
    if (entry.tid == 0) {
      continue;
    }
    const std::uint64_t cpu = engines::thread_cpu_ns(entry.tid);
    if (cpu == 0 || cpu == tables_.thread_slots[slot].cpu_at_disarm_ns) {
      continue;
    }
    const bool blocks = looks_blocked(slot, cpu) && os::blocks_signal(entry.tid, signal_);
    change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
      record.cpu_at_disarm_ns = cpu;
      if (blocks) {
        record.flags = static_cast<std::uint16_t>(record.flags | flag(ThreadFlag::kSignalBlocked));
      }
    });
    if (sampling::load_relaxed(entry.java_thread) != 0) {
      name(slot); // a thread may be renamed
    }
    if (entry.quiet != 0 && entry.armed != 0) {
      look_for_sandbox(slot);
    }
  }
}

// A filter of the thread's own may answer any system call by killing the process, the return from a
// signal handler too: such a thread is left alone.
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
             now_ns() - tables_.thread_slots[slot].armed_ns >= kQuietNs) {
    sampling::store_relaxed(entry.quiet, std::uint16_t{0});
  }
}

// A thread that has worked for a while without one signal: its mask is worth a look.
bool ThreadTable::looks_blocked(std::uint32_t slot, std::uint64_t cpu) const {
  const wire::ThreadSlot& record = tables_.thread_slots[slot];
  const std::uint64_t expected = interval_ns_ > kLongestTickNs ? interval_ns_ : kLongestTickNs;
  return sampler_->threads[slot].armed != 0 && sampling::load_relaxed(record.signals) == 0 &&
         (record.flags & flag(ThreadFlag::kSignalBlocked)) == 0 &&
         cpu - record.cpu_at_arm_ns > 3 * expected;
}

void ThreadTable::name_new_threads() {
  if (sampler_->names_wanted.exchange(0, std::memory_order_relaxed) == 0) {
    return;
  }
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    ThreadEntry& entry = sampler_->threads[slot];
    if (entry.tid != 0 && sampling::load_relaxed(entry.java_thread) != entry.named_after) {
      name(slot);
    }
  }
}

void ThreadTable::name_last_threads() {
  for (std::uint32_t slot = 0; slot < used_;
       ++slot) { // one may have been renamed since it was named
    ThreadEntry& entry = sampler_->threads[slot];
    if (entry.tid != 0 && sampling::load_relaxed(entry.java_thread) != 0) {
      name(slot);
    }
  }
  for (unsigned i = 0; i < kLastNameTries; ++i) {
    name_new_threads();
    if (sampler_->names_wanted.load(std::memory_order_relaxed) == 0) {
      return;
    }
    os::sleep_ns(1'000'000);
  }
}

// By the Java thread's own name where it can be read, else by the kernel's.
void ThreadTable::name(std::uint32_t slot) {
  if (!objects_opened_) { // not before the first timers are armed: it takes a millisecond
    objects_opened_ = true;
    objects_known_ = objects_.open(sampler_->vm);
  }
  ThreadEntry& entry = sampler_->threads[slot];
  const std::uint64_t java_thread = sampling::load_relaxed(entry.java_thread);
  char kernel_name[16];
  std::size_t kernel_bytes = 0;
  if (objects_known_ && objects_.needs_kernel_name()) {
    kernel_bytes = os::thread_name(entry.tid, kernel_name, sizeof kernel_name);
  }
  jvm::ThreadIdentity identity;
  const bool known =
      objects_known_ && objects_.read(java_thread, entry.tid, kernel_name, kernel_bytes, &identity);
  if (!known && kernel_bytes == 0) {
    kernel_bytes = os::thread_name(entry.tid, kernel_name, sizeof kernel_name);
  }
  const char* text = known ? identity.name : kernel_name;
  const std::size_t bytes = known ? identity.name_bytes : kernel_bytes;
  const auto& now = tables_.thread_slots[slot];
  const bool was_known = now.java_id != 0 && entry.named_after == java_thread;
  if (known) {
    entry.named_after = java_thread;
    entry.name_tries = 0;
  } else if (objects_known_ && entry.named_after != java_thread &&
             ++entry.name_tries < kMostNameTries) {
    sampler_->names_wanted.store(1, std::memory_order_relaxed);
  }
  if (!known && (was_known || bytes == 0)) {
    return; // what was read before is better
  }
  const bool is_java = (now.flags & flag(ThreadFlag::kJava)) != 0;
  if (is_java && now.name_bytes == bytes && __builtin_memcmp(now.name, text, bytes) == 0 &&
      (!known || now.java_id == identity.java_id)) {
    return;
  }
  change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
    record.flags = static_cast<std::uint16_t>(record.flags | flag(ThreadFlag::kJava));
    record.java_id = known ? identity.java_id : 0;
    record.name_bytes = static_cast<std::uint16_t>(bytes);
    os::copy_bytes(record.name, text, bytes);
  });
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

void ThreadTable::disarm_all() {
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    ThreadEntry& entry = sampler_->threads[slot];
    if (entry.armed != 0) {
      const std::uint64_t cpu = engines::thread_cpu_ns(entry.tid);
      disarm(entry);
      if (cpu != 0) {
        change(tables_.thread_slots[slot],
               [&](wire::ThreadSlot& record) { record.cpu_at_disarm_ns = cpu; });
      }
    }
  }
  const std::uint64_t now = now_ns();
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    ThreadEntry& entry = sampler_->threads[slot];
    auto& record = tables_.thread_slots[slot];
    if (entry.tid != 0) {
      change(record, [&](wire::ThreadSlot& changed) {
        changed.disarmed_ns = now;
        changed.flags = static_cast<std::uint16_t>(changed.flags & ~flag(ThreadFlag::kArmed));
        if (sampling::load_relaxed(entry.java_thread) != 0) {
          changed.flags = static_cast<std::uint16_t>(changed.flags | flag(ThreadFlag::kJava));
        }
      });
    }
  }
}

bool ThreadTable::find_slot(std::int32_t tid, std::uint32_t* index_slot) const {
  const std::uint32_t mask = tables_.thread_index_mask;
  std::uint32_t at = static_cast<std::uint32_t>(tid) * 0x9e3779b1U;
  for (std::uint32_t probe = 0; probe <= mask; ++probe) {
    const std::uint32_t entry = tables_.thread_index[(at + probe) & mask];
    if (entry == 0) {
      return false;
    }
    if (entry != kRemoved && sampler_->threads[entry - 1].tid == tid) {
      *index_slot = (at + probe) & mask;
      return true;
    }
  }
  return false;
}

void ThreadTable::index_insert(std::int32_t tid, std::uint32_t slot) {
  const std::uint32_t mask = tables_.thread_index_mask;
  std::uint32_t at = static_cast<std::uint32_t>(tid) * 0x9e3779b1U;
  while (tables_.thread_index[at & mask] != 0 && tables_.thread_index[at & mask] != kRemoved) {
    ++at;
  }
  tables_.thread_index[at & mask] = slot + 1;
}

void ThreadTable::rebuild_index() {
  __builtin_memset(tables_.thread_index, 0,
                   (std::size_t{tables_.thread_index_mask} + 1) * sizeof(std::uint32_t));
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    if (sampler_->threads[slot].tid != 0) {
      index_insert(sampler_->threads[slot].tid, slot);
    }
  }
  index_garbage_ = 0;
}

// A fresh slot, or that of a thread which ended so long ago that the reader has all its samples.
bool ThreadTable::take_slot(std::uint32_t* slot) {
  if (used_ < sampler_->thread_capacity) {
    *slot = used_++;
    return true;
  }
  const std::uint64_t now = now_ns();
  for (std::uint32_t i = 0; i < used_; ++i) {
    const std::uint64_t ended = tables_.thread_slots[i].disarmed_ns;
    if (sampler_->threads[i].tid == 0 && ended != 0 && ended + kReuseAfterNs < now) {
      *slot = i;
      return true;
    }
  }
  return false;
}

} // namespace jprof::agent::recording
