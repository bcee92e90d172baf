// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CPU-time engine: one POSIX timer per thread, on that thread's own CPU clock, which signals
// only that thread. Timers are made by raw system calls: the C library's timer_create moved between
// libraries, and would hide the kernel's timer id. Agent's thread only.

#include "agent/sampling/sampler.h"

#include <cstdint>
#include <time.h>

namespace jprof::agent::engines {

// The scheduler's tick, on which the timers fire: the step of CLOCK_MONOTONIC_COARSE.
std::uint64_t tick_ns();

// CPU time that a thread of this process has used; 0 once it has ended.
std::uint64_t thread_cpu_ns(std::int32_t tid);

// False for a thread that has ended and for one of another process. Unlike thread_cpu_ns(), it
// tells an ended thread from one that has not run yet.
bool has_cpu_clock(std::int32_t tid);

// make_timer makes a timer on any clock that signals the calling thread with `value`. start_timer
// starts it: the first signal comes after `first_ns`, then one every `interval_ns` (0: only the
// first). Both return 0 or -errno.
long make_timer(clockid_t clock, int signal, void* value, std::int32_t* timer);
long start_timer(std::int32_t timer, std::uint64_t first_ns, std::uint64_t interval_ns);

// Makes and starts the timer of `entry.tid`; signals carry the address of `entry`. The first one
// comes when the thread's clock is `phase_ns` past entry.accounted_ns, or soon if it is already,
// and stands for all the time in between; one follows after every interval. Returns 0 or -errno
// (-EAGAIN: the RLIMIT_SIGPENDING limit; -EINVAL: the thread has ended).
long arm_cpu_timer(sampling::ThreadEntry& entry, int signal, std::uint64_t interval_ns,
                   std::uint64_t phase_ns);

// Replaces the running timer of `entry` with one of the same interval on the clock that the kernel
// advances in whole ticks (user and system time as it accounts for them), so that each tick that
// finds the thread at work has the same chance of a sample (docs/design/agent.md, "Work in bursts
// of about a tick"). The handler must be able to read the CPU clock, because such a timer does not
// say how far that clock has advanced. Returns 0, or -errno if the old timer is still in place.
long count_ticks(sampling::ThreadEntry& entry, int signal, std::uint64_t phase_ns);

// True if the thread that the timer was made for has ended. Another thread may have its id by now.
bool cpu_timer_is_dead(const sampling::ThreadEntry& entry);

// Gives the running timer of `entry` another interval. CPU time since the last signal, and expiries
// that the kernel has not handled yet, are not lost: the next signal comes when one new interval is
// full; if it is full already, that signal also carries the excess. Only a signal queued at this
// very moment may get the new weight.
void change_cpu_timer(sampling::ThreadEntry& entry, std::uint64_t interval_ns);

// Deletes a timer. If the kernel refuses (a seccomp filter that the program installed later),
// disarms it. Whatever remains is counted as long as the process lives: timers that could not be
// deleted, and those of them that still signal.
void remove_timer(std::int32_t timer);
struct TimersLeft {
  std::uint32_t all = 0;
  std::uint32_t running = 0;
};
TimersLeft timers_left();
// Counts a perf event that could not be closed and, if `running`, not silenced either.
void leave_timer(bool running);
// 0, or -errno if timers could not be deleted. Probed with a timer that does not exist.
long can_remove_timers();

// Deletes the timer. The handler rejects a signal that it has already queued as stale.
void disarm_cpu_timer(sampling::ThreadEntry& entry);

// True if a timer's signal carries the id that timer_create returned. Tested on the calling thread,
// which must block `signal`. An emulator (qemu-user) renumbers the timers of its guest.
bool signals_carry_timer_id(int signal);

} // namespace jprof::agent::engines
