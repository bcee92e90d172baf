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

// Of the few places for callers none is held by one that has never asked for anything while another
// waits: the oldest of these has to go. Whether a caller has asked, the process that serves it says
// in memory that it shares with the supervisor, to whom all else here belongs. One thread.
class CallerPlaces {
 public:
  using Asked = std::atomic<bool>;

  CallerPlaces();

  // Before the fork: the place that the child is to have; null where none is free, or no memory.
  Asked* offer();
  void take(pid_t child); // what was offered
  void leave(pid_t child);

  // For a caller who waits and finds no place: true if one is about to be free, which leave()
  // tells.
  bool make_room();
  // Until when nobody has to be let in, since a place is being made free.
  std::optional<base::Deadline> awaited() const;

 private:
  struct Place {
    pid_t child = 0;
    std::uint64_t since = 0; // the order of arrival
  };

  Asked* asked_ = nullptr; // shared: one a place
  std::array<Place, kMaxConnections> places_{};
  std::size_t offered_ = 0;
  std::uint64_t arrivals_ = 0;
  std::optional<base::Deadline> awaited_;
};

} // namespace jprof::serve
