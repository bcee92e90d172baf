// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a thread's samples account for its CPU clock. Nanoseconds; signal-safe, on any thread but
// for take_weight.

#include <cstdint>

namespace jprof::agent::sampling {

struct ThreadEntry;

// What the thread's CPU clock has advanced since it was last accounted for; notes it as such. By
// whom ever and in what order it is called, nothing counts twice.
std::uint64_t account_to(ThreadEntry& entry, std::uint64_t cpu_ns);

// The same for a sample of a timer that counts ticks, `ticks_ns` since the last one: what the CPU
// clock has advanced beyond them is told by and by.
std::uint64_t account_ticks_to(ThreadEntry& entry, std::uint64_t cpu_ns, std::uint64_t ticks_ns);

// The same for a handler that may not read the clock: the CPU time that a signal of this thread's
// timer stands for, its interval, those that the timer let pass, and what is carried. On that
// thread.
std::uint64_t take_weight(ThreadEntry& entry, std::uint64_t overruns);

} // namespace jprof::agent::sampling
