// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/timestamp.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace jprof::base {
namespace {

using std::chrono::system_clock;

// The number in text[at, at + digits), or -1.
int number_at(std::string_view text, std::size_t at, std::size_t digits) {
  int value = 0;
  for (const char c : text.substr(at, digits)) {
    if (c < '0' || c > '9') {
      return -1;
    }
    value = value * 10 + (c - '0');
  }
  return value;
}

bool is_fraction(std::string_view text) {
  return text.empty() ||
         (text.size() > 1 && text.size() < 12 && text[0] == '.' &&
          std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

} // namespace

std::string format_utc(system_clock::time_point time) {
  using namespace std::chrono;
  constexpr auto kMin = sys_days(year(1970) / 1 / 1);
  constexpr auto kMax = sys_days(year(10000) / 1 / 1) - seconds(1);
  const auto second = std::clamp<sys_seconds>(floor<seconds>(time), kMin, kMax);
  const auto day = floor<days>(second);
  const year_month_day date(day);
  const hh_mm_ss clock(second - day);
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return out.data();
}

Result<system_clock::time_point> parse_utc(std::string_view text) {
  using namespace std::chrono;
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  const auto refuse = [text] {
    return make_failure(ErrorCode::kInvalidData,
                        "not a time like 2026-11-21T10:00:00Z: '" + std::string(text) + "'");
  };
  if (text.size() <= kForm.size() || text.back() != 'Z' ||
      !is_fraction(text.substr(kForm.size(), text.size() - kForm.size() - 1))) {
    return refuse();
  }
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] != 'd' && kForm[i] != text[i]) {
      return refuse();
    }
  }
  const int y = number_at(text, 0, 4);
  const int mo = number_at(text, 5, 2);
  const int d = number_at(text, 8, 2);
  const int h = number_at(text, 11, 2);
  const int mi = number_at(text, 14, 2);
  const int s = number_at(text, 17, 2);
  const bool in_range = y >= 1970 && mo >= 0 && d >= 0 && h >= 0 && h < 24 && mi >= 0 && mi < 60 &&
                        s >= 0 && s <= 60; // 60: a leap second
  const year_month_day date(year(y), month(static_cast<unsigned>(std::max(mo, 0))),
                            day(static_cast<unsigned>(std::max(d, 0))));
  if (!in_range || !date.ok()) {
    return refuse();
  }
  return sys_days(date) + hours(h) + minutes(mi) + seconds(s);
}

} // namespace jprof::base
