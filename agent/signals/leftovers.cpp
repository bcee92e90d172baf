// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/signals/leftovers.h"

#include "agent/engines/cpu_timer.h"
#include "agent/os/system.h"
#include "agent/sampling/handler.h"
#include "agent/sampling/shared_memory.h"

namespace jprof::agent {
namespace {

using wire::AgentStatus;
using wire::Counter;
using wire::StopRefusal;

std::uint64_t bit(bool refused, StopRefusal what) {
  return refused ? static_cast<std::uint64_t>(what) : 0;
}

} // namespace

Failure check_end() {
  if (const long refused = engines::can_remove_timers(); refused != 0) {
    return {AgentStatus::kNoTimers, refused,
            "seccomp refuses timer_delete, so timers would remain"};
  }
  if (const long refused = os::can_unmap(); refused != 0) {
    return {AgentStatus::kMapFailed, refused,
            "seccomp refuses munmap, so the region would stay mapped"};
  }
  return {};
}

void note_leftovers(sampling::Sampler& sampler) {
  const engines::TimersLeft timers = engines::timers_left();
  if (timers.running != 0) {
    sampling::keep_signal_handler();
  }
  const std::uint64_t refused = bit(!sampling::actions_can_be_changed(), StopRefusal::kHandlers) |
                                bit(os::can_unmap() != 0, StopRefusal::kRegion);
  const auto set = [&](Counter which, std::uint64_t value) {
    sampling::store_relaxed(sampling::counter(sampler, which), value);
  };
  set(Counter::kTimersLeft, timers.all);
  set(Counter::kTimersRunning, timers.running);
  set(Counter::kStopRefused, refused);
}

} // namespace jprof::agent
