// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace jprof::record {

// Due at once, then every `period` after it was last done.
class Timer {
 public:
  explicit Timer(std::chrono::milliseconds period) : period_(period) {}
  bool due(std::chrono::steady_clock::time_point now) {
    if (now < next_) {
      return false;
    }
    next_ = now + period_;
    return true;
  }

 private:
  std::chrono::milliseconds period_;
  std::chrono::steady_clock::time_point next_{};
};

} // namespace jprof::record
