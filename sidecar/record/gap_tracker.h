// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace jprof::record {

// When a recording lost samples. The agent only counts them, so a loss happened somewhere between
// two readings of its counter that differ. One thread at a time.
class GapTracker {
 public:
  // `lost`: how many samples have been lost since the start; `now`: time since the start, never
  // decreasing.
  void note(std::chrono::nanoseconds now, std::uint64_t lost);
  const std::vector<profile::Gap>& gaps() const { return gaps_; }

 private:
  std::vector<profile::Gap> gaps_;
  std::chrono::nanoseconds last_{0};
  std::uint64_t lost_ = 0;
};

} // namespace jprof::record
