// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::engines {

// What one timer signal costs the thread that it interrupts, in ns, apart from the handler's own
// work: the timer's interrupt, the path through the kernel, the signal frame and the return.
// Measured on the calling thread, which reads a clock in a loop for about 3 ms while a timer
// interrupts it. The result is the median of the gaps, so preemption does not count. (On a virtual
// machine, a signal that a thread sends itself by a system call costs a sixth of that: no
// interrupt.) 0 if no timer could be made. REQUIRES: the session's handlers are installed. The
// caller's signal mask is preserved.
std::uint64_t measure_delivery(const sampling::Sampler& sampler, int signal);

// The median of a few measurements, the lower of two: noise only adds, and a single measurement in
// a noisy moment came out several times too high. One thread.
class DeliveryCost {
 public:
  bool wants_more() const { return tries_ < kTries; }
  void add(std::uint64_t measured_ns); // 0: that one failed. REQUIRES: wants_more()
  std::uint64_t median_ns() const { return found_ == 0 ? 0 : ascending_ns_[(found_ - 1) / 2]; }

 private:
  static constexpr std::uint32_t kTries = 3;
  std::uint64_t ascending_ns_[kTries] = {};
  std::uint32_t found_ = 0;
  std::uint32_t tries_ = 0;
};

} // namespace jprof::agent::engines
