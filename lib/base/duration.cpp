// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/duration.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace jprof::base {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanos;
};

// Largest first: format_duration walks it in this order.
constexpr std::array<Unit, 6> kUnits{{{"h", 3'600'000'000'000},
                                      {"m", 60'000'000'000},
                                      {"s", 1'000'000'000},
                                      {"ms", 1'000'000},
                                      {"us", 1'000},
                                      {"ns", 1}}};
constexpr std::int64_t kMaxNanos = std::int64_t{366} * 24 * 3'600'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

Result<std::chrono::nanoseconds> bad(std::string_view text) {
  return make_failure(ErrorCode::kUsage, "not a duration: '" + std::string(text) + "'",
                      "write a number with its unit: 10ms, 1.5s, 2m, 1h30m");
}

// Reads digits[.digits] at `at` as a count of `billionths`, so that 1.5s is exact.
bool read_number(std::string_view text, std::size_t& at, std::int64_t& whole,
                 std::int64_t& billionths) {
  whole = billionths = 0;
  const std::size_t start = at;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    whole = whole * 10 + (text[at] - '0');
    if (whole > kMaxNanos) {
      return false;
    }
  }
  if (at == start) {
    return false;
  }
  if (at < text.size() && text[at] == '.') {
    std::int64_t scale = 100'000'000;
    const std::size_t first = ++at;
    for (; at < text.size() && is_digit(text[at]) && scale > 0; ++at, scale /= 10) {
      billionths += (text[at] - '0') * scale;
    }
    return at > first;
  }
  return true;
}

} // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  std::int64_t total = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    std::int64_t whole = 0;
    std::int64_t billionths = 0;
    if (!read_number(text, at, whole, billionths)) {
      return bad(text);
    }
    std::size_t end = at;
    while (end < text.size() && text[end] >= 'a' && text[end] <= 'z') {
      ++end;
    }
    const std::string_view name = text.substr(at, end - at);
    at = end;
    std::int64_t nanos = 0;
    for (const Unit& unit : kUnits) {
      nanos = unit.name == name ? unit.nanos : nanos;
    }
    if (nanos == 0 || whole > kMaxNanos / nanos) {
      return bad(text);
    }
    total += whole * nanos +
             std::llround(static_cast<double>(billionths) / 1e9 * static_cast<double>(nanos));
    if (total > kMaxNanos) {
      return bad(text);
    }
  }
  if (text.empty()) {
    return bad(text);
  }
  return std::chrono::nanoseconds(total);
}

std::string format_duration(std::chrono::nanoseconds duration) {
  std::int64_t rest = duration.count();
  if (rest == 0) {
    return "0s";
  }
  std::string out;
  if (rest < 0) {
    out = "-";
    rest = -rest;
  }
  for (const Unit& unit : kUnits) {
    if (const std::int64_t count = rest / unit.nanos; count > 0) {
      out += std::to_string(count);
      out += unit.name;
      rest %= unit.nanos;
    }
  }
  return out;
}

} // namespace jprof::base
