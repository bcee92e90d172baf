// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/session/overhead_limit.h"

namespace jprof::agent {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kMinShare = 10; // a tenth of a CPU
constexpr std::uint32_t kCostlySeconds = 2;

} // namespace

bool OverheadLimit::is_exceeded(const OverheadSample& now) {
  if (permille_ == 0 || now.at_ns < before_.at_ns + kSecondNs) {
    return false;
  }
  const bool is_first = before_.at_ns == 0;
  const std::uint64_t cost =
      now.handler_ns - before_.handler_ns + (now.signals - before_.signals) * now.delivery_ns;
  const std::uint64_t used = now.process_cpu_ns - before_.process_cpu_ns;
  const std::uint64_t least = (now.at_ns - before_.at_ns) / kMinShare;
  before_ = now;
  if (is_first) { // the cost of the start does not recur
    return false;
  }
  const std::uint64_t base = used > least ? used : least;
  costly_ = cost * 1000 > base * permille_ ? costly_ + 1 : 0;
  if (costly_ < kCostlySeconds) {
    return false;
  }
  costly_ = 0;
  return true;
}

} // namespace jprof::agent
