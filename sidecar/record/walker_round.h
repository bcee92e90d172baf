// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace jprof::record {

inline constexpr char kNoJavaMethod[] = "[no Java method]";
inline constexpr char kFailedWalk[] = "[failed]";

// What one walker saw in one round: the weight of each innermost Java method. Samples without one,
// or whose walk failed, have a line of their own.
struct WalkerRound {
  std::map<std::string, double> weights;
  double weight = 0;
  std::uint64_t samples = 0;
};

WalkerRound round_of(const profile::Profile& profile);

// As text, for another process: "samples N", then a line "WEIGHT METHOD" for each method.
std::string round_text(const WalkerRound& round);
// kInvalidData for anything that round_text() does not write. A line feed in a name is written as a
// space.
base::Result<WalkerRound> parse_round(std::string_view text);

} // namespace jprof::record
