// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

namespace jprof::base {

// A point of the monotonic clock by which something must be done. A value: copy it down the call
// chain, so that all steps share one budget.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline after(std::chrono::nanoseconds duration) {
    return Deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(duration));
  }

  bool expired() const { return Clock::now() >= at_; }
  std::chrono::nanoseconds remaining() const {
    return std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(at_ - Clock::now()));
  }
  // For poll(2): rounded up, so that a deadline is never missed by spinning; at most a minute.
  int poll_milliseconds() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(remaining()).count();
    return static_cast<int>(std::min<long long>(left, 60000));
  }
  Deadline sooner(Deadline other) const { return Deadline(std::min(at_, other.at_)); }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

} // namespace jprof::base
