// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "sidecar/serve/process_limits.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace jprof::serve {

// Since when (CLOCK_MONOTONIC, ns) nothing is in progress for a caller; 0: something is.
using IdleSince = std::atomic<std::uint64_t>;
std::uint64_t idle_clock();

// There are few places for callers: while another caller waits, none is held by one for which
// nothing is in progress; the one for which that has been so for longest has to go. The process
// that serves a caller records it, in memory that it shares with the supervisor, which owns
// everything else here. One thread.
class CallerPlaces {
 public:
  CallerPlaces();

  // Before the fork: the place that the child is to have; null if none is free, or for lack of
  // memory.
  IdleSince* offer();
  void take(pid_t child); // what was offered
  void leave(pid_t child);

  // For a caller that waits and finds no place: true if one is about to be free, which leave()
  // reports.
  bool make_room();
  // Until when nobody has to be let in, since a place is being freed.
  std::optional<base::Deadline> awaited() const;

 private:
  IdleSince* idle_ = nullptr;                     // shared: one for each place
  std::array<pid_t, kMaxConnections> children_{}; // 0: free
  std::size_t offered_ = 0;
  std::optional<base::Deadline> awaited_;
};

} // namespace jprof::serve
