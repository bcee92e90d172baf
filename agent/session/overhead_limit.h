// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides when sampling costs too much; lib/wire/detail.h says what is given up then. Pure
// arithmetic: the recorder measures and acts. One thread.

#include <cstdint>

namespace jprof::agent {

struct OverheadSample {
  std::uint64_t at_ns = 0; // CLOCK_MONOTONIC
  // What samples have cost since the start: the CPU time of the handlers, and the signals, each of
  // which costs delivery_ns as currently known. The CPU time of the agent's own thread is not
  // included: it looks for new threads at a bounded cost, whatever the rate, so no step would
  // change it.
  std::uint64_t handler_ns = 0;
  std::uint64_t signals = 0;
  std::uint64_t delivery_ns = 0;
  std::uint64_t process_cpu_ns = 0; // CPU time of the whole process
};

// Compares the cost of each second with the CPU time that the process used in it, or with a tenth
// of a CPU if it used less, because nobody notices the cost in an idle process.
class OverheadLimit {
 public:
  OverheadLimit() = default;
  explicit OverheadLimit(std::uint32_t permille) : permille_(permille) {} // 0: no limit

  // True once the cost was too high for two seconds in a row; counting then starts again.
  bool is_exceeded(const OverheadSample& now);

 private:
  std::uint32_t permille_ = 0;
  std::uint32_t costly_ = 0;
  OverheadSample before_;
};

} // namespace jprof::agent
