// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a thread's samples account for its CPU clock. Nanoseconds; signal-safe; any thread,
// except for take_weight.

#include <cstdint>

namespace jprof::agent::sampling {

struct ThreadEntry;

// Returns what the thread's CPU clock has advanced since it was last accounted for, and marks it as
// accounted for. Nothing counts twice, no matter who calls it and in what order.
std::uint64_t account_to(ThreadEntry& entry, std::uint64_t cpu_ns);

// The same for a sample of a timer that counts ticks, `ticks_ns` since the last one: what the CPU
// clock has advanced beyond them is accounted for gradually.
std::uint64_t account_ticks_to(ThreadEntry& entry, std::uint64_t cpu_ns, std::uint64_t ticks_ns);

// The same for a handler that may not read the clock: the CPU time that a signal of this thread's
// timer stands for, which is its interval, the intervals that the timer missed, and what is
// carried. Call it on that thread.
std::uint64_t take_weight(ThreadEntry& entry, std::uint64_t overruns);

} // namespace jprof::agent::sampling
