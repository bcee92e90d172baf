// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/folded_diff.h"

#include "lib/render/collapsed_reader.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>

namespace jprof::render {
namespace {

struct Pair {
  double base = 0;
  double changed = 0;
};

std::string without_addresses(std::string_view stack) {
  std::string out;
  for (std::size_t at = 0; at < stack.size();) {
    std::size_t end = at + 2;
    while (stack.substr(at, 2) == "0x" && end < stack.size() &&
           std::isxdigit(static_cast<unsigned char>(stack[end])) != 0) {
      ++end;
    }
    if (end > at + 2) {
      out += "0x...";
      at = end;
    } else {
      out += stack[at++];
    }
  }
  return out;
}

template <typename Add>
void each_count(std::string_view text, bool strip_hex, Add add) {
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    FoldedLine line;
    if (parse_folded_line(text.substr(from, end - from), CountColumns::kOne, line)) {
      add(strip_hex ? without_addresses(line.stack) : std::string(line.stack), line.value);
    }
    from = end + 1;
  }
}

// Whole numbers as such, others with a double's precision, as Perl prints them.
std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

} // namespace

base::Result<std::string> diff_folded(std::string_view base, std::string_view changed,
                                      const FoldedDiffOptions& options) {
  std::map<std::string, Pair> stacks;
  double base_total = 0;
  double changed_total = 0;
  each_count(base, options.strip_hex, [&](std::string&& stack, double value) {
    stacks[std::move(stack)].base += value;
    base_total += value;
  });
  each_count(changed, options.strip_hex, [&](std::string&& stack, double value) {
    stacks[std::move(stack)].changed += value;
    changed_total += value;
  });
  if (stacks.empty()) {
    return base::make_failure(base::ErrorCode::kInvalidData, "no stack with a count in either");
  }
  const bool scale = options.normalize && base_total > 0 && base_total != changed_total;
  std::string out;
  for (const auto& [stack, pair] : stacks) {
    const double before = scale ? std::trunc(pair.base * changed_total / base_total) : pair.base;
    out += stack + " " + number(before) + " " + number(pair.changed) + "\n";
  }
  return out;
}

} // namespace jprof::render
