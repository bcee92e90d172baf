// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace jprof::render {

// Counts above this lose exactness as doubles; no profile has them.
inline constexpr double kMaxCount = 9e15;

// A profile's counts are whole numbers. If text has decimals (0.42 and 0.58), rounding each would
// make shares of 0 and 100 %. So all are multiplied by the smallest power of ten (up to 10^9) that
// makes them whole and keeps their sum below kMaxCount. 1 for whole counts.
std::uint64_t factor_to_whole(std::span<const double> counts);

} // namespace jprof::render
