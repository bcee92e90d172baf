// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CPU-time engine: one POSIX timer for each thread, on that thread's own CPU clock, signalling
// that thread alone. Made by raw system calls (the C library's timer_create moved between
// libraries, and would hide the kernel's timer id). Agent's thread only.

#include "agent/sampling/sampler.h"

#include <cstdint>
#include <time.h>

namespace jprof::agent::engines {

// The scheduler's tick, on which the timers fire: what CLOCK_MONOTONIC_COARSE advances by.
std::uint64_t tick_ns();

// CPU time that a thread of this process has used; 0 once it has ended.
std::uint64_t thread_cpu_ns(std::int32_t tid);

// The same, told from a thread that has not run yet. Of a thread of another process there is none.
bool has_cpu_clock(std::int32_t tid);

// A timer of any clock that signals the calling thread with `value`; and its start: the first
// signal after `first_ns`, then each `interval_ns` (0: once). 0 or -errno.
long make_timer(clockid_t clock, int signal, void* value, std::int32_t* timer);
long start_timer(std::int32_t timer, std::uint64_t first_ns, std::uint64_t interval_ns);

// Makes and starts the timer of `entry.tid`; signals carry the address of `entry`. The first one
// comes when the thread's clock is `phase_ns` after entry.accounted_ns, or soon where it is there
// already, and stands for all in between; the following come each interval. 0 or -errno (-EAGAIN:
// the limit of RLIMIT_SIGPENDING; -EINVAL: the thread has ended).
long arm_cpu_timer(sampling::ThreadEntry& entry, int signal, std::uint64_t interval_ns,
                   std::uint64_t phase_ns);

// Replaces the running timer of `entry` by one of the same interval on the clock that the kernel
// advances by whole ticks, user and system time as it accounts for them: so each tick that finds
// the thread at work has the same chance of a sample (docs/design/agent.md, "Work in bursts of
// about a tick"). Its handler must be able to read the CPU clock, for such a timer does not tell
// how much of that has passed. 0, or -errno, and then the old timer goes on.
long count_ticks(sampling::ThreadEntry& entry, int signal, std::uint64_t phase_ns);

// True if the thread that the timer was made for has ended: its id may be another thread's by now.
bool cpu_timer_is_dead(const sampling::ThreadEntry& entry);

// Gives the running timer of `entry` another interval. Its CPU time since the last signal, or the
// expiries that the kernel has not looked at yet, are not lost: the next signal comes when one new
// interval is full, and where it would be full already it carries the rest. Only a signal that is
// queued in this very moment may get the new weight.
void change_cpu_timer(sampling::ThreadEntry& entry, std::uint64_t interval_ns);

// Deletes a timer; where the kernel refuses that (a seccomp filter that came with the program's own
// later life), sets it to no time at all. What remains all the same is counted for as long as the
// process lives: timers that could not be deleted, and those of them that go on signalling.
void remove_timer(std::int32_t timer);
struct TimersLeft {
  std::uint32_t all = 0;
  std::uint32_t running = 0;
};
TimersLeft timers_left();
// An event of perf's that could not be closed, nor silenced if `running`, is one of them.
void leave_timer(bool running);
// 0, or -errno if timers could not be deleted: asked of a timer that there is not.
long can_remove_timers();

// Deletes the timer. A signal that it has queued already is refused by the handler as stale.
void disarm_cpu_timer(sampling::ThreadEntry& entry);

// True if a timer's signal carries the id that timer_create returned, tried on the calling thread,
// which must block `signal`. An emulator (qemu-user) numbers the timers of its guest anew.
bool signals_carry_timer_id(int signal);

} // namespace jprof::agent::engines
