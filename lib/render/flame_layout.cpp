// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/flame_layout.h"

#include "lib/render/collapsed_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace jprof::render {
namespace {

struct Line {
  std::string text; // stack, a space and the counts: the sort key
  FoldedLine parsed;
};

std::vector<std::string_view> split_frames(std::string_view stack) {
  std::vector<std::string_view> frames;
  for (std::size_t from = 0; from <= stack.size();) {
    const std::size_t end = std::min(stack.find(';', from), stack.size());
    frames.push_back(stack.substr(from, end - from));
    from = end + 1;
  }
  while (!frames.empty() && frames.back().empty()) {
    frames.pop_back();
  }
  return frames;
}

std::string reversed(std::string_view stack) {
  std::vector<std::string_view> frames = split_frames(stack);
  std::string out;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    out += out.empty() ? "" : ";";
    out += *frame;
  }
  return out;
}

// "a;b;--;c;d" becomes "a;b;--;c_[w];d_[w]", and a stack without wakers ends in "--", as in
// flamegraph.pl.
std::string with_wakers_marked(std::string_view stack) {
  constexpr std::string_view kSeparator = ";--;";
  std::size_t end = stack.find(kSeparator);
  std::string out(stack.substr(0, end));
  out += kSeparator;
  for (bool first = true; end != std::string_view::npos; first = false) {
    stack.remove_prefix(end + kSeparator.size());
    end = stack.find(kSeparator);
    out += first ? "" : kSeparator;
    for (const char c : stack.substr(0, end)) {
      out += c == ';' ? "_[w];" : std::string(1, c);
    }
    out += "_[w]";
  }
  return out;
}

// flamegraph.pl keeps ends as text with 15 digits: this rounds sums of decimals the same way.
double in_fifteen_digits(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.15g", value);
  return std::strtod(text, nullptr);
}

// Keeps the boxes of the open path; a box is complete when a line comes that does not share it.
class BoxStacker {
 public:
  explicit BoxStacker(FlameLayout& layout) : layout_(layout) {}

  void add(const std::vector<std::string_view>& frames, double time, const FoldedLine& line) {
    const bool first = open_.empty();
    if (first) {
      open_.push_back({.name = {}, .begin = time, .has_delta = line.has_base});
    }
    std::size_t same = 0;
    while (same < frames.size() && same + 1 < open_.size() &&
           open_[same + 1].name == frames[same]) {
      ++same;
    }
    close_below(same + 1, time);
    for (std::size_t i = same; i < frames.size(); ++i) {
      open_.push_back({.name = std::string(frames[i]),
                       .depth = static_cast<std::uint32_t>(i + 1),
                       .begin = time,
                       .has_delta = line.has_base});
    }
    // A difference counts where the stack ends, but, as in flamegraph.pl, only in boxes that this
    // line opened.
    if ((first || same < frames.size()) && line.has_base) {
      open_.back().delta += line.value - line.base;
    }
  }

  void finish(double time) { close_below(0, time); }

 private:
  void close_below(std::size_t depth, double time) {
    while (open_.size() > depth) {
      open_.back().end = in_fifteen_digits(time);
      layout_.boxes.push_back(std::move(open_.back()));
      open_.pop_back();
    }
  }

  FlameLayout& layout_;
  std::vector<FlameBox> open_;
};

std::vector<Line> read_lines(std::string_view text, StackOrder stacks) {
  std::vector<Line> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view whole = text.substr(from, end - from);
    from = end + 1;
    Line line;
    if (!parse_folded_line(whole, CountColumns::kUpToTwo, line.parsed)) {
      continue;
    }
    const std::string_view counts = whole.substr(line.parsed.stack.size());
    line.text = stacks == StackOrder::kReversed ? reversed(line.parsed.stack) + std::string(counts)
                                                : std::string(whole);
    lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace

FlameLayout lay_out_folded(std::string_view text, FrameOrder frames, StackOrder stacks,
                           StackForm form) {
  FlameLayout layout;
  std::vector<Line> lines = read_lines(text, stacks);
  if (frames == FrameOrder::kMerged) {
    std::ranges::stable_sort(lines, {}, &Line::text);
  }
  BoxStacker stacker(layout);
  double time = 0;
  for (const Line& line : lines) {
    FoldedLine parsed;
    parse_folded_line(line.text, CountColumns::kUpToTwo, parsed);
    const std::string stack =
        form == StackForm::kChain ? with_wakers_marked(parsed.stack) : std::string(parsed.stack);
    if (parsed.has_base) {
      layout.largest_delta = std::max(layout.largest_delta, std::abs(parsed.value - parsed.base));
    }
    stacker.add(split_frames(stack), time, parsed);
    time += parsed.value;
  }
  stacker.finish(time);
  layout.total = time;
  return layout;
}

} // namespace jprof::render
