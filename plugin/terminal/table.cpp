// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/terminal/table.h"

#include "lib/base/encoding.h"

#include <algorithm>

namespace jprof::plugin {
namespace {

constexpr std::size_t kMaxCellLength = 120;

} // namespace

std::string table_text(std::vector<std::vector<std::string>> rows) {
  std::vector<std::size_t> widths;
  for (auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = row[i].empty() ? "-" : base::printable(row[i], kMaxCellLength);
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      out += i + 1 < row.size() ? std::string(widths[i] - row[i].size() + 2, ' ') : "\n";
    }
  }
  return out;
}

} // namespace jprof::plugin
