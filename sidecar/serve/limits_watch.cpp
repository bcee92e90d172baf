// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/limits_watch.h"

#include <algorithm>
#include <cstddef>

namespace jprof::serve {
namespace {

// By resource, in the kernel's numbers (getrlimit(2)).
constexpr std::array<const char*, RLIM_NLIMITS> kNames = {
    "CPU time",         "file size",      "data",        "stack",         "core size",
    "resident set",     "processes",      "open files",  "locked memory", "address space",
    "file locks",       "queued signals", "queue bytes", "nice",          "real-time priority",
    "real-time time us"};

std::array<rlimit, RLIM_NLIMITS> limits_now() {
  std::array<rlimit, RLIM_NLIMITS> limits{};
  for (std::size_t i = 0; i < limits.size(); ++i) {
    ::getrlimit(static_cast<__rlimit_resource_t>(i), &limits[i]);
  }
  return limits;
}

std::string text_of(const rlimit& limit) {
  const auto number = [](rlim_t value) {
    return value == RLIM_INFINITY ? std::string("unlimited") : std::to_string(value);
  };
  const bool one = limit.rlim_cur == limit.rlim_max;
  return number(limit.rlim_cur) + (one ? "" : " (at most " + number(limit.rlim_max) + ")");
}

} // namespace

LimitsWatch::LimitsWatch() : noted_(limits_now()) {}

std::string LimitsWatch::changes() const {
  const auto now = limits_now();
  std::string text;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].rlim_cur != noted_[i].rlim_cur || now[i].rlim_max != noted_[i].rlim_max) {
      text += (text.empty() ? "" : ", ") + std::string(kNames[i]) + " from " + text_of(noted_[i]) +
              " to " + text_of(now[i]);
    }
  }
  return text.empty() ? text : "another process changed the limits of jprof serve: " + text;
}

} // namespace jprof::serve
