// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/method_table.h"

#include <algorithm>

namespace jprof::render {

std::vector<MethodRow> top_methods(const profile::Profile& profile, const CallTree& tree,
                                   std::size_t limit) {
  std::vector<MethodRow> rows(profile.string_count());
  // open_until[label] > n: node n is inside an open activation of the same method.
  std::vector<std::uint32_t> open_until(profile.string_count(), 0);
  for (std::uint32_t n = 1; n < tree.size(); ++n) {
    const auto label = static_cast<std::size_t>(tree.label[n]);
    MethodRow& row = rows[label];
    row.label = tree.label[n];
    row.self_weight += tree.self_weight[n];
    row.self_count += tree.self_count[n];
    if (n >= open_until[label]) {
      open_until[label] = tree.end[n];
      row.total_weight += tree.total_weight[n];
    }
  }
  std::erase_if(rows, [](const MethodRow& row) { return row.total_weight == 0; });
  const auto heavier = [&](const MethodRow& a, const MethodRow& b) {
    if (a.self_weight != b.self_weight) {
      return a.self_weight > b.self_weight;
    }
    if (a.total_weight != b.total_weight) {
      return a.total_weight > b.total_weight;
    }
    return profile.string(a.label) < profile.string(b.label);
  };
  const std::size_t kept = std::min(limit, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end(),
                    heavier);
  rows.resize(kept);
  return rows;
}

} // namespace jprof::render
