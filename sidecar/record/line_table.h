// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace jprof::record {

// The lines of one method: HotSpot's compressed line table as the agent copied it from the JVM; its
// content is not trusted. Immutable; any thread.
class LineTable {
 public:
  LineTable() = default;
  // `excludes_zero`: numbers are written without zero bytes (JDK 20 and later).
  LineTable(std::string_view bytes, bool excludes_zero);

  // The line of the last entry at or before `bci`; 0: unknown.
  std::int32_t line_of(std::uint32_t bci) const;
  std::size_t size() const { return entries_.size(); }

 private:
  std::vector<std::pair<std::uint32_t, std::int32_t>> entries_; // bci, line; sorted by bci
};

} // namespace jprof::record
