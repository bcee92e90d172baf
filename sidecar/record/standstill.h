// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/container/process.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace jprof::record {

// Distinguishes a process that cannot answer (stopped, traced, frozen) from a slow one: none of its
// threads has run for a while. A process that starves still gets a few microseconds. The process
// must outlive it. One thread at a time.
class Standstill {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Standstill(const container::Process& process) : process_(process) {}

  // Why it cannot answer; empty as long as it may still answer. Call it several times a second.
  std::string look(Clock::time_point now);

 private:
  const container::Process& process_;
  std::optional<std::chrono::nanoseconds> cpu_;
  Clock::time_point since_{}; // it has used no CPU time
};

} // namespace jprof::record
