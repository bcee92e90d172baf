// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The threads of the process. Finds new ones by the ids that the kernel gives out, and both new and
// ended ones in /proc/self/task, and gives each a slot in the region and a timer. Neither asks the
// JVM for threads nor hooks into it. Agent's thread only.

#include "agent/jvm/thread_objects.h"
#include "agent/os/process.h"
#include "agent/recording/birth_watch.h"
#include "agent/recording/region_layout.h"
#include "agent/recording/thread_index.h"
#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::recording {

// The agent's own threads are never sampled: each registers before its first scan.
void register_agent_thread(std::int32_t tid);
void forget_agent_thread(std::int32_t tid);

class ThreadTable {
 public:
  // Timers may use at most half of the queued signals left to this user, and perf's clock at most
  // half of the descriptors left to the process; a thread without a perf event gets a timer. If
  // perf's clock cannot be used at all, kPerfRefusal says why.
  void begin(sampling::Sampler* sampler, const PrivateTables& tables, int signal,
             std::uint64_t interval_ns, wire::Engine engine);
  // What the threads are armed with.
  wire::Engine engine() const { return engine_; }

  // The first scan leaves names to name_first, because reading them takes longer than arming the
  // threads.
  void arm_first();
  // Reads the kernel's names of the threads that arm_first has found, and the agent's seccomp
  // state.
  void name_first();
  // Does everything that recurs, each part as often as it is due and cheap. Call it every 20 ms.
  void tick(std::uint64_t now_ns);
  // Arms threads that have begun since the last call, however many; cheap if there are none. Call
  // it often: see look_every_ns.
  void find_births(std::uint64_t now_ns);
  // How soon to call it again: sooner while threads are being born, as far as that is cheap.
  std::int64_t look_every_ns(std::uint64_t now_ns) const;
  // Reads all names once more, and keeps trying for a few milliseconds for threads never named.
  void name_last_threads();
  // Brings CPU times, names and flags up to date; twice a second.
  void update();
  // Sets the interval of all timers, including those that are made later.
  void set_interval(std::uint64_t interval_ns);
  // Deletes every timer and notes the CPU times, and how much of each is in no sample.
  void disarm_all();

  std::uint32_t armed() const { return armed_; }
  std::uint32_t failed() const { return failed_; }
  // CLOCK_MONOTONIC of the first timer; 0 before.
  std::uint64_t first_armed_ns() const { return first_armed_ns_; }
  // Why timers could not be made: 0, or the last -errno.
  long last_error() const { return last_error_; }

 private:
  // Arms new threads and retires ended ones, unless the last scan was so recent that another one
  // would cost more than about a thousandth of a CPU.
  void scan_if_due(std::uint64_t now_ns);
  void scan();
  // Retires threads that lived for less than a second; runs every 100 ms.
  void look_at_young(std::uint64_t now_ns);
  // If there are fewer timers than threads, moves timers from threads that do not work to those
  // that do. Cheap if there are enough.
  void share_timers(std::uint64_t now_ns);
  // Finds out the Java names and ids of threads that were sampled as Java threads since the last
  // call, and tries again if the collector was in the way. Cheap if there are none.
  void name_new_threads();
  void see(std::int32_t tid);
  void see_born(std::int32_t tid);
  bool may_arm_at_once(std::uint64_t now_ns);
  void note_look_cost();
  void take(std::uint32_t slot, std::int32_t tid, bool born);
  bool is_another(const sampling::ThreadEntry& entry);
  bool runs_backwards(const sampling::ThreadEntry& entry);
  bool may_name(std::uint64_t now_ns);
  void arm(std::uint32_t slot);
  long arm_by_engine(std::uint32_t slot);
  void disarm(sampling::ThreadEntry& entry);
  void wait_for_timer(std::uint32_t slot);
  void note_timer(std::uint32_t slot);
  bool look_at_waiting(std::uint32_t slot, std::uint64_t now_ns);
  template <typename Since>
  bool find_longest(Since&& since, std::uint64_t before_ns, std::uint32_t* slot) const;
  bool free_timer_of_idle(std::uint64_t now_ns);
  bool free_timer_of_busy(std::uint64_t now_ns);
  void take_timer_away(std::uint32_t slot);
  bool note_cpu(std::uint32_t slot, std::uint64_t cpu, std::uint64_t now_ns);
  void retire(std::uint32_t slot);
  void name(std::uint32_t slot);
  void name_by_kernel(std::uint32_t slot);
  void look_for_sandbox(std::uint32_t slot);
  void look_for_sandbox_before_loads(std::uint32_t slot);
  void stop_signalling(std::uint32_t slot);
  void signal_again(std::uint32_t slot);
  bool looks_blocked(std::uint32_t slot, std::uint64_t cpu) const;
  bool take_slot(std::uint32_t* slot);
  std::uint64_t random_phase_ns();

  sampling::Sampler* sampler_ = nullptr;
  jvm::ThreadObjects objects_;
  os::Seccomp seccomp_; // of the agent's own thread, which has what the process has
  bool seccomp_known_ = false;
  bool names_later_ = false;
  bool objects_opened_ = false;
  bool objects_known_ = false;
  PrivateTables tables_;
  int signal_ = 0;
  std::uint32_t used_ = 0; // slots ever used
  std::uint32_t armed_ = 0;
  std::uint32_t failed_ = 0;
  std::uint32_t scan_number_ = 0;
  std::uint32_t refused_ = 0; // for want of a slot, in the current scan
  ThreadIndex index_;
  BirthWatch births_;
  bool births_known_ = false;        // births_ finds all new threads, as far as scans have shown
  std::uint32_t born_found_ = 0;     // by births_
  std::uint32_t born_missed_ = 0;    // ... found only by a scan
  bool finding_births_ = false;      // threads seen now come from births_
  std::uint64_t cpu_at_look_ns_ = 0; // of the agent's thread
  std::uint64_t look_cost_ns_ = 0;   // from one look to the next, lately
  std::uint64_t next_arm_ns_ = 0;    // at first sight: may_arm_at_once
  bool all_seen_ = true;             // the first scan has met every thread that was there
  std::uint32_t names_left_ = 0;     // to read in the current second
  std::uint64_t naming_second_ends_ns_ = 0;
  std::uint64_t begun_ns_ = 0;
  std::uint64_t last_birth_ns_ = 0;
  std::uint64_t next_young_ns_ = 0;
  std::uint64_t earliest_scan_ns_ = 0;
  wire::Engine engine_ = wire::Engine::kCpuTimer;
  std::uint64_t timer_budget_ = 0;
  std::uint32_t timers_ = 0;     // those of armed_ with a timer
  std::uint32_t waiting_ = 0;    // threads that wait for one
  std::uint32_t share_from_ = 0; // the slot at which the next look at them begins
  std::uint32_t moves_left_ = 0; // timers that may go to another thread until next_share_ns_
  std::uint32_t tries_left_ = 0; // looks for an idle thread until then
  std::uint64_t next_share_ns_ = 0;
  std::uint64_t perf_budget_ = 0; // events that may still be opened
  std::uint64_t first_armed_ns_ = 0;
  std::uint64_t next_scan_ns_ = 0;
  std::uint64_t random_ = 0;
  std::uint64_t interval_ns_ = 0;
  long last_error_ = 0;
};

} // namespace jprof::agent::recording
