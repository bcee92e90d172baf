// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace jprof::spool {

// The time that passes whatever somebody sets the wall clock to: since the start of the machine,
// its sleep included. Readings compare within one start.
struct Uptime {
  std::string boot; // which start
  std::int64_t seconds = 0;

  // Since `earlier`; 0 where that was before the last start, since nobody knows how long that took.
  std::int64_t since(const Uptime& earlier) const;
};

struct Moment {
  std::chrono::system_clock::time_point wall; // what people are told
  Uptime uptime;                              // what ages are counted by

  static Moment now();
};

} // namespace jprof::spool
