// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace jprof::record {

// When a session lost samples. The agent only counts them, so a loss lies somewhere between the two
// looks at its counter that differ. One thread at a time.
class GapBook {
 public:
  // `lost`: how many samples were lost since the start; `now`: since the start, never falling.
  void note(std::chrono::nanoseconds now, std::uint64_t lost);
  const std::vector<profile::Gap>& gaps() const { return gaps_; }

 private:
  std::vector<profile::Gap> gaps_;
  std::chrono::nanoseconds last_{0};
  std::uint64_t lost_ = 0;
};

} // namespace jprof::record
