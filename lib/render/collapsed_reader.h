// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"
#include "lib/render/left_out.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace jprof::render {

// A line "root;...;leaf COUNT" of folded text; with a second count ("... BASE COUNT") it is
// differential, as difffolded.pl writes it. Counts may have decimals.
struct FoldedLine {
  std::string_view stack;
  double value = 0;
  double base = 0;
  bool has_base = false;
  bool too_large = false; // for an ignored line: there is a number at its end
};

// Parses one line as flamegraph.pl does: the counts are what follows the last white space. False
// for lines that it ignores. With kOne a number before the count is the end of a name.
enum class CountColumns { kOne, kUpToTwo };
bool parse_folded_line(std::string_view line, CountColumns columns, FoldedLine& out);
// The lines of a text that are ignored.
LeftOut ignored_lines(std::string_view text, CountColumns columns);
// Two if every line that has a count has two.
CountColumns count_columns(std::string_view text);

// The same line by line; false once it is certain: the rest need not be read.
class ColumnCounter {
 public:
  bool line(std::string_view text);
  CountColumns columns() const {
    return two_ && !one_ ? CountColumns::kUpToTwo : CountColumns::kOne;
  }

 private:
  bool one_ = false;
  bool two_ = false;
};

// Folded text as a profile without times; of two counts, the second. Kind suffixes (_[j], _[i],
// _[0], _[1], _[k]) are removed. Lines without a count, or with one above 9e15, are ignored and
// counted in the facts; a text in which no line has one is kInvalidData, one whose sum is above
// 9e15 kLimit. Counts with decimals are multiplied until they are whole (exact_counts.h), and a
// fact gives the factor.
base::Result<profile::Profile> read_collapsed(std::string_view text, std::string_view title);

// The same for a text that is not in memory as a whole: line by line, without line breaks.
class CollapsedReader {
 public:
  CollapsedReader(std::string_view title, CountColumns columns);
  ~CollapsedReader();

  void line(std::string_view text);
  base::Result<profile::Profile> finish();

 private:
  class Intake;
  std::unique_ptr<Intake> intake_;
};

} // namespace jprof::render
