// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/left_out.h"

#include <algorithm>

namespace jprof::render {

std::string LeftOut::text(std::string_view what) const {
  std::string out =
      std::to_string(count_) + ", the first is " + std::string(what) + " " + std::to_string(first_);
  return why_.empty() ? out : out + ": " + std::string(why_);
}

std::vector<std::string> left_out_of(const profile::Profile& profile) {
  constexpr std::array kLabels{kIgnoredLines, kIgnoredValues, kRoundedCounts, kOtherEvents,
                               kOtherUnits};
  std::vector<std::string> out;
  if (!profile.info().damage.empty()) {
    out.push_back(profile.info().damage);
  }
  for (const auto& [label, value] : profile.info().facts) {
    if (std::ranges::find(kLabels, label) != kLabels.end()) {
      out.push_back(label + ": " + value);
    }
  }
  if (out.empty() && !profile.has_samples()) {
    out.emplace_back("it contains no samples: did the program that wrote it fail?");
  }
  return out;
}

std::string other_events(const profile::Profile& profile, profile::EventId shown) {
  std::string others;
  for (const profile::EventId event : profile.event_ids()) {
    const std::uint64_t samples = profile.event(event).total_count;
    if (event != shown && samples > 0) {
      others += others.empty() ? "" : ", ";
      others += profile.event_info(event).name + " (" + std::to_string(samples) + ")";
    }
  }
  return others;
}

std::vector<std::string> left_out_of(const profile::Profile& profile, profile::EventId shown) {
  std::vector<std::string> out = left_out_of(profile);
  if (const std::string others = other_events(profile, shown); !others.empty()) {
    out.push_back(std::string(kOtherEvents) + ": " + others);
  }
  return out;
}

} // namespace jprof::render
