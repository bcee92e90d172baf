// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/render/call_tree.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jprof::render {

struct MethodRow {
  profile::StringId label = profile::kNoString;
  std::uint64_t self_weight = 0;
  std::uint64_t total_weight =
      0; // recursion is counted once, so never more than the profile's total
  std::uint64_t self_count = 0;
};

// Methods by self weight, heaviest first; at most `limit` rows.
std::vector<MethodRow> top_methods(const profile::Profile& profile, const CallTree& tree,
                                   std::size_t limit);

} // namespace jprof::render
