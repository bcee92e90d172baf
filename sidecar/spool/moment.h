// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace jprof::spool {

// Time that passes however somebody sets the wall clock: since the start of the machine, including
// its sleep. Readings can be compared within one start.
struct Uptime {
  std::string boot; // which start
  std::int64_t seconds = 0;

  // Since `earlier`; 0 if that was before the last start, since nobody knows how long that took.
  std::int64_t since(const Uptime& earlier) const;
};

struct Moment {
  std::chrono::system_clock::time_point wall; // what people are told
  Uptime uptime;                              // what ages are counted by

  static Moment now();
};

} // namespace jprof::spool
