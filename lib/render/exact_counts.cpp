// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/exact_counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace jprof::render {
namespace {

constexpr std::uint64_t kMaxFactor = 1'000'000'000;

bool is_whole(double value) {
  // The rounding error of, say, 1.1 * 10 is some 1e-16 of it.
  return std::abs(value - std::nearbyint(value)) <= value * 1e-12;
}

} // namespace

std::uint64_t factor_to_whole(std::span<const double> counts) {
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  std::uint64_t factor = 1;
  // Each step starts where the last one found a fraction.
  for (auto at = counts.begin();
       factor < kMaxFactor && sum * static_cast<double>(factor) * 10 < kMaxCount; factor *= 10) {
    at = std::find_if(at, counts.end(), [factor](double count) {
      return !is_whole(count * static_cast<double>(factor));
    });
    if (at == counts.end()) {
      break;
    }
  }
  return factor;
}

} // namespace jprof::render
