// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/schedule.h"

#include <charconv>
#include <cstdint>

namespace jprof::plugin {

std::optional<std::chrono::system_clock::time_point> scheduled_time(std::string_view job) {
  const std::size_t dash = job.rfind('-');
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view digits = job.substr(dash + 1);
  std::int64_t minutes = 0;
  const char* end = digits.data() + digits.size();
  // Eight digits are the years 1989 to 2160: a name that ends in a small number is not from a
  // schedule.
  if (digits.size() != 8 || std::from_chars(digits.data(), end, minutes).ptr != end ||
      minutes < 10'000'000) {
    return std::nullopt;
  }
  return std::chrono::system_clock::time_point(std::chrono::minutes(minutes));
}

std::string_view job_of_pod(std::string_view pod) {
  constexpr std::size_t kRandom = 5;
  if (pod.size() <= kRandom + 1 || pod[pod.size() - kRandom - 1] != '-') {
    return {};
  }
  return pod.substr(0, pod.size() - kRandom - 1);
}

} // namespace jprof::plugin
