// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/gap_tracker.h"

#include <cstddef>

namespace jprof::record {

void GapTracker::note(std::chrono::nanoseconds now, std::uint64_t lost) {
  // More gaps than a time strip could show: beyond this, the last one grows.
  constexpr std::size_t kMaxGaps = 1000;
  // A hostile counter may fall.
  if (lost > lost_) {
    const bool grows = !gaps_.empty() && (gaps_.back().to == last_ || gaps_.size() == kMaxGaps);
    if (!grows) {
      gaps_.push_back({.from = last_, .to = now, .reason = "samples lost", .samples = 0});
    }
    gaps_.back().to = now;
    gaps_.back().samples += lost - lost_;
  }
  last_ = now;
  lost_ = lost;
}

} // namespace jprof::record
