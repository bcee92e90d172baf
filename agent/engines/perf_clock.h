// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CPU-time engine for intervals that are too short for the scheduler's tick: perf's software
// clock, one event per thread. While the thread runs, a high-resolution timer fires the event and
// the kernel signals the thread (fcntl F_SETSIG). The signals carry no count of those merged while
// one was pending, so the weight of a sample is what the thread's CPU clock has advanced since the
// last one. No buffer is mapped. Agent's thread only.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::engines {

// Why the clock, which has to include time in the kernel, cannot be used in this process. 0: it
// can. An errno: EACCES for perf_event_paranoid, EPERM and ENOSYS for the container's seccomp
// profile. wire::kPerfNotTried: a seccomp filter is in force, whose answer may be to kill.
// wire::kPerfNeedsSigprof: the signal is another one.
std::uint32_t perf_refusal(int signal);

// How many events we may open: half of the descriptors that the process has left.
std::uint64_t perf_budget();

// Opens and starts the event of `entry.tid`, whose entry.accounted_ns is set. Returns 0 or -errno
// (-EMFILE also if the descriptor's number is too high for the sampler's table).
long arm_perf_clock(const sampling::Sampler& sampler, sampling::ThreadEntry& entry, int signal,
                    std::uint64_t interval_ns);
// CPU time that the thread has used since its last sample is part of the next one.
void change_perf_clock(sampling::ThreadEntry& entry, std::uint64_t interval_ns);
// The event sends no more signals; the handler rejects one that is already queued as stale.
void disarm_perf_clock(sampling::ThreadEntry& entry);

} // namespace jprof::agent::engines
