// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/account.h"

#include "agent/sampling/sampler.h"
#include "agent/sampling/shared_memory.h"

namespace jprof::agent::sampling {

std::uint64_t account_to(ThreadEntry& entry, std::uint64_t cpu_ns) {
  std::uint64_t before = load_relaxed(entry.accounted_ns);
  while (static_cast<std::int64_t>(cpu_ns - before) > 0) {
    if (shared(entry.accounted_ns)
            .compare_exchange_weak(before, cpu_ns, std::memory_order_relaxed)) {
      return cpu_ns - before;
    }
  }
  return 0;
}

// A tick late in a burst of work has more CPU time before it than an early one. If its weight were
// all of that, late ticks would weigh more. So an eighth of the excess is accounted for now and the
// rest later, up to one interval; any more does not depend on where the ticks fall.
std::uint64_t account_ticks_to(ThreadEntry& entry, std::uint64_t cpu_ns, std::uint64_t ticks_ns) {
  const auto due = static_cast<std::int64_t>(cpu_ns - load_relaxed(entry.accounted_ns));
  const std::int64_t excess = due - static_cast<std::int64_t>(ticks_ns);
  if (excess <= 0) {
    return account_to(entry, cpu_ns);
  }
  const std::uint64_t spread =
      static_cast<std::uint64_t>(excess) < ticks_ns ? static_cast<std::uint64_t>(excess) : ticks_ns;
  return account_to(entry, cpu_ns - (spread - spread / 8));
}

std::uint64_t take_weight(ThreadEntry& entry, std::uint64_t overruns) {
  std::uint64_t weight = (1 + overruns) * load_relaxed(entry.interval_ns);
  if (load_relaxed(entry.carried_ns) != 0) {
    weight += shared(entry.carried_ns).exchange(0, std::memory_order_relaxed);
  }
  add(entry.accounted_ns, weight);
  return weight;
}

} // namespace jprof::agent::sampling
