// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/collapsed_reader.h"

#include "lib/profile/profile_builder.h"
#include "lib/render/exact_counts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace jprof::render {
namespace {

using profile::FrameKind;

constexpr std::string_view kSpace = " \t\r\f\v";
constexpr std::string_view kTooLarge = "its count is above 9e15";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The number at the end of `text`, digits with an optional fraction, after white space.
bool take_count(std::string_view& text, double& value, bool& too_large) {
  std::size_t at = text.size();
  while (at > 0 && (is_digit(text[at - 1]) || text[at - 1] == '.')) {
    --at;
  }
  const std::string_view number = text.substr(at);
  if (at == 0 || number.empty() || !is_digit(number[0]) ||
      kSpace.find(text[at - 1]) == std::string_view::npos) {
    return false;
  }
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (end != number.data() + number.size()) {
    return false;
  }
  if (error != std::errc{} || value > kMaxCount) {
    too_large = true;
    return false;
  }
  text = text.substr(0, at - 1); // one space; more of them belong to the name
  return true;
}

std::pair<std::string_view, FrameKind> split_kind(std::string_view name) {
  static constexpr std::pair<std::string_view, FrameKind> kSuffixes[] = {
      {"_[j]", FrameKind::kC2},
      {"_[i]", FrameKind::kInlined},
      {"_[0]", FrameKind::kInterpreted},
      {"_[1]", FrameKind::kC1},
      {"_[k]", FrameKind::kKernel}};
  for (const auto& [suffix, kind] : kSuffixes) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      return {name.substr(0, name.size() - suffix.size()), kind};
    }
  }
  return {name, FrameKind::kUnknown};
}

// The length of the common prefix of two texts; eight bytes at a time.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (; at + 8 <= most; at += 8) {
    if (std::memcmp(a.data() + at, b.data() + at, 8) != 0) {
      break;
    }
  }
  while (at < most && a[at] == b[at]) {
    ++at;
  }
  return at;
}

// Calls visit(line) until it returns false; true if it never did.
template <typename Visit>
bool each_line(std::string_view text, Visit visit) {
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    if (!visit(text.substr(from, end - from))) {
      return false;
    }
    from = end + 1;
  }
  return true;
}

} // namespace

class CollapsedReader::Intake {
 public:
  Intake(std::string_view title, CountColumns columns) : columns_(columns) {
    builder_.info().title = std::string(title);
    builder_.event_info().name = "";
    thread_ = builder_.add_thread({});
  }

  void line(std::string_view text) {
    ++number_;
    FoldedLine folded;
    if (!parse_folded_line(text, columns_, folded)) {
      if (text.find_first_not_of(kSpace) != std::string_view::npos) {
        ignored_.note(number_, folded.too_large ? kTooLarge : std::string_view());
      }
      return;
    }
    read_stack(folded.stack);
    stacks_.push_back(builder_.intern_stack(stack_));
    counts_.push_back(folded.value);
    sum_ += folded.value;
  }

  base::Result<profile::Profile> finish() {
    if (counts_.empty() && ignored_.count() > 0) {
      return base::make_failure(base::ErrorCode::kInvalidData,
                                "line " + std::to_string(ignored_.first()) +
                                    ": no count at its end, nor has any other line one",
                                "Folded text has one stack and one count on each line.");
    }
    if (sum_ > kMaxCount) {
      return base::make_failure(base::ErrorCode::kLimit, "the counts add up to more than 9e15",
                                "Count in a larger unit: microseconds instead of nanoseconds.");
    }
    add_samples();
    if (ignored_.count() > 0) {
      builder_.info().facts.emplace_back(kIgnoredLines, ignored_.text());
    }
    return builder_.build();
  }

 private:
  void add_samples() {
    const std::uint64_t factor = factor_to_whole(counts_);
    std::uint64_t rounded = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const double exact = counts_[i] * static_cast<double>(factor);
      const auto count = static_cast<std::uint64_t>(std::llround(exact));
      rounded += std::abs(exact - std::nearbyint(exact)) > exact * 1e-12;
      if (count > 0) {
        builder_.add_sample(
            {.thread = thread_, .stack = stacks_[i], .count = count, .weight = count});
      }
    }
    if (factor > 1) {
      builder_.info().facts.emplace_back(
          "counts", std::to_string(factor) + " times those in the text, which have decimals");
    }
    if (rounded > 0) {
      builder_.info().facts.emplace_back(kRoundedCounts, std::to_string(rounded));
    }
  }

  // Neighbours share most of their frames: only the part after the last common `;` is looked up.
  void read_stack(std::string_view text) {
    const std::size_t common = common_prefix(text, last_);
    while (!ends_.empty() && ends_.back() >= common) {
      ends_.pop_back();
    }
    stack_.resize(ends_.size());
    // The empty stack is a stack: its samples count.
    for (std::size_t from = ends_.empty() ? 0 : ends_.back() + 1;
         from <= text.size() && !text.empty();) {
      const std::size_t end = std::min(text.find(';', from), text.size());
      stack_.push_back(frame(text.substr(from, end - from)));
      ends_.push_back(end);
      from = end + 1;
    }
    last_.replace(common, std::string::npos, text.substr(common));
  }

  profile::FrameId frame(std::string_view text) {
    if (const auto known = frames_.find(text); known != frames_.end()) {
      return known->second;
    }
    const auto [name, kind] = split_kind(text);
    const profile::FrameId id =
        builder_.intern_frame({.kind = kind, .name = builder_.intern_string(name)});
    frames_.emplace(frame_texts_.emplace_back(text), id);
    return id;
  }

  CountColumns columns_;
  profile::ProfileBuilder builder_;
  profile::ThreadId thread_{};
  std::deque<std::string> frame_texts_; // stable addresses: the map's keys point into it
  std::unordered_map<std::string_view, profile::FrameId> frames_;
  std::string last_; // the previous stack, its frames and where each ends in it
  std::vector<profile::FrameId> stack_;
  std::vector<std::size_t> ends_;
  std::vector<profile::StackId> stacks_; // for each line that has a count
  std::vector<double> counts_;
  double sum_ = 0;
  std::uint64_t number_ = 0;
  LeftOut ignored_;
};

bool parse_folded_line(std::string_view line, CountColumns columns, FoldedLine& out) {
  line = line.substr(0, line.find_last_not_of(kSpace) + 1);
  out = {};
  if (!take_count(line, out.value, out.too_large)) {
    return false;
  }
  double first = 0;
  std::string_view rest = line;
  if (bool too_large = false;
      columns == CountColumns::kUpToTwo && take_count(rest, first, too_large)) {
    out.base = first;
    out.has_base = true;
    line = rest;
  }
  out.stack = line;
  return true;
}

bool ColumnCounter::line(std::string_view text) {
  FoldedLine folded;
  if (parse_folded_line(text, CountColumns::kUpToTwo, folded)) {
    (folded.has_base ? two_ : one_) = true;
  }
  return !one_;
}

LeftOut ignored_lines(std::string_view text, CountColumns columns) {
  LeftOut ignored;
  std::uint64_t number = 0;
  each_line(text, [&](std::string_view line) {
    ++number;
    FoldedLine folded;
    if (!parse_folded_line(line, columns, folded) &&
        line.find_first_not_of(kSpace) != std::string_view::npos) {
      ignored.note(number, folded.too_large ? kTooLarge : std::string_view());
    }
    return true;
  });
  return ignored;
}

CountColumns count_columns(std::string_view text) {
  ColumnCounter counter;
  each_line(text, [&](std::string_view line) { return counter.line(line); });
  return counter.columns();
}

CollapsedReader::CollapsedReader(std::string_view title, CountColumns columns)
    : intake_(std::make_unique<Intake>(title, columns)) {}
CollapsedReader::~CollapsedReader() = default;

void CollapsedReader::line(std::string_view text) {
  intake_->line(text);
}

base::Result<profile::Profile> CollapsedReader::finish() {
  return intake_->finish();
}

base::Result<profile::Profile> read_collapsed(std::string_view text, std::string_view title) {
  CollapsedReader reader(title, count_columns(text));
  each_line(text, [&](std::string_view line) {
    reader.line(line);
    return true;
  });
  return reader.finish();
}

} // namespace jprof::render
