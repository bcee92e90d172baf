// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the agent gives up, step by step, to stay within max_overhead_permille; Counter::kDetailLost
// says how many steps it took. The agent acts on this table, and the sidecar tells the user what
// happened.

#include <cstdint>

namespace jprof::wire {

// What sampling may cost by default, as a part of the CPU time that the JVM uses.
inline constexpr std::uint32_t kDefaultOverheadPermille = 20;

struct Detail {
  std::uint32_t max_depth = 0xffffffff; // no limit of its own
  std::uint32_t interval_factor = 1;
};

// The rate goes first: fewer samples widen the error, which the summary shows, but each is whole.
// Then comes depth: stacks lose their roots. After the last step there is nothing left to give up
// but the session.
inline constexpr std::uint32_t kDetailSteps = 6;
inline constexpr Detail kDetails[kDetailSteps + 1] = {
    {},
    {.interval_factor = 2},
    {.interval_factor = 4},
    {.interval_factor = 8},
    {.interval_factor = 16},
    {.max_depth = 256, .interval_factor = 16},
    {.max_depth = 64, .interval_factor = 16},
};

// The detail that is left after this many steps.
constexpr Detail detail_after(std::uint64_t steps) {
  return kDetails[steps < kDetailSteps ? steps : kDetailSteps];
}

} // namespace jprof::wire
