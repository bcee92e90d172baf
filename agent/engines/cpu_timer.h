// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CPU-time engine: one POSIX timer for each thread, on that thread's own CPU clock, signalling
// that thread alone. Made by raw system calls (the C library's timer_create moved between
// libraries, and would hide the kernel's timer id). Agent's thread only.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::engines {

// CPU time that a thread of this process has used; 0 once it has ended.
std::uint64_t thread_cpu_ns(std::int32_t tid);

// Makes and starts the timer of `entry.tid`; signals carry the address of `entry`. The first one
// comes after `first_ns` of CPU time, the following each interval. 0 or -errno (-EAGAIN: the limit
// of RLIMIT_SIGPENDING; -EINVAL: the thread has ended).
long arm_cpu_timer(sampling::ThreadEntry& entry, int signal, std::uint64_t interval_ns,
                   std::uint64_t first_ns);

// Deletes the timer. A signal that it has queued already is refused by the handler as stale.
void disarm_cpu_timer(sampling::ThreadEntry& entry);

// True if a timer's signal carries the id that timer_create returned, tried on the calling thread,
// which must block `signal`. An emulator (qemu-user) numbers the timers of its guest anew.
bool signals_carry_timer_id(int signal);

} // namespace jprof::agent::engines
