// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CPU-time engine for intervals that the scheduler's tick is too coarse for: perf's software
// clock, one event for each thread, which fires by a high resolution timer while the thread runs
// and has the kernel signal it (fcntl F_SETSIG). Its signals carry no count of those that were
// merged while one was pending, so a sample weighs what the thread's CPU clock has advanced since
// the last one. No buffer is mapped. Agent's thread only.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::engines {

// Why the clock cannot be used in this process, of which time in the kernel has to be a part: 0, an
// errno (EACCES: perf_event_paranoid, EPERM and ENOSYS: the container's seccomp profile),
// wire::kPerfNotTried where a seccomp filter is in force, whose answer may be to kill, or
// wire::kPerfNeedsSigprof with another signal.
std::uint32_t perf_refusal(int signal);

// How many events this process may open: half of the descriptors that it has left.
std::uint64_t perf_budget();

// Opens and starts the event of `entry.tid`, whose entry.accounted_ns is set. 0 or -errno (-EMFILE
// also where the descriptor's number is too high for the sampler's table).
long arm_perf_clock(const sampling::Sampler& sampler, sampling::ThreadEntry& entry, int signal,
                    std::uint64_t interval_ns);
// What the thread has worked since its last sample is part of the next.
void change_perf_clock(sampling::ThreadEntry& entry, std::uint64_t interval_ns);
// No signal of it is sent any more; one that is queued already is refused by the handler as stale.
void disarm_perf_clock(sampling::ThreadEntry& entry);

} // namespace jprof::agent::engines
