// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::render {

// Facts of a profile that say what a reader could not use. Programs print them, too: a profile that
// lacks a part looks like a whole one.
inline constexpr std::string_view kIgnoredLines = "ignored lines";
inline constexpr std::string_view kIgnoredValues = "ignored values";
inline constexpr std::string_view kRoundedCounts = "rounded counts";
inline constexpr std::string_view kOtherEvents = "samples of other events";
inline constexpr std::string_view kOtherUnits = "profiles of other units";

// How many lines (or values) were left out, which was the first, and why that one.
class LeftOut {
 public:
  void note(std::uint64_t place, std::string_view why) {
    if (count_++ == 0) {
      first_ = place;
      why_ = why;
    }
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t first() const { return first_; }
  // "3, the first is line 2: its count is too large".
  std::string text(std::string_view what = "line") const;

 private:
  std::uint64_t count_ = 0;
  std::uint64_t first_ = 0;
  std::string_view why_; // a literal; empty: there is no count at its end
};

// "ignored lines: 3, the first is line 2", for each such fact; and a line if there is no sample at
// all, since an empty input is also what a pipe gets from a program that failed.
std::vector<std::string> left_out_of(const profile::Profile& profile);

// The other events of a profile that have samples, for a format that shows one: "wall (812), alloc
// (9)".
std::string other_events(const profile::Profile& profile, profile::EventId shown);

// left_out_of(), and the other events.
std::vector<std::string> left_out_of(const profile::Profile& profile, profile::EventId shown);

} // namespace jprof::render
