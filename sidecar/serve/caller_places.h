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

// There are few places for callers: while another caller waits, none is held by one that has never
// asked for anything; the oldest of these has to go. The process that serves a caller records
// whether it has asked, in memory that it shares with the supervisor, which owns everything else
// here. One thread.
class CallerPlaces {
 public:
  using Asked = std::atomic<bool>;

  CallerPlaces();

  // Before the fork: the place that the child is to have; null if none is free, or for lack of
  // memory.
  Asked* offer();
  void take(pid_t child); // what was offered
  void leave(pid_t child);

  // For a caller that waits and finds no place: true if one is about to be free, which leave()
  // reports.
  bool make_room();
  // Until when nobody has to be let in, since a place is being freed.
  std::optional<base::Deadline> awaited() const;

 private:
  struct Place {
    pid_t child = 0;
    std::uint64_t since = 0; // the order of arrival
  };

  Asked* asked_ = nullptr; // shared: one for each place
  std::array<Place, kMaxConnections> places_{};
  std::size_t offered_ = 0;
  std::uint64_t arrivals_ = 0;
  std::optional<base::Deadline> awaited_;
};

} // namespace jprof::serve
