// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/time_namespace.h"

#include "lib/base/file.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace jprof::container {
namespace {

constexpr std::size_t kMaxBytes = 512;

// Takes the next number off the line.
std::optional<std::int64_t> next_number(std::string_view& line) {
  const std::size_t at = line.find_first_not_of(' ');
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  line.remove_prefix(at);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return number;
}

} // namespace

std::chrono::nanoseconds monotonic_offset(std::string_view text) {
  constexpr std::string_view kClock = "monotonic ";
  constexpr std::int64_t kMaxSeconds = std::int64_t{1} << 32; // beside the kernel's KTIME_SEC_MAX
  const std::size_t at = text.find(kClock);
  if (at == std::string_view::npos) {
    return std::chrono::nanoseconds(0);
  }
  std::string_view line = text.substr(at + kClock.size());
  line = line.substr(0, line.find('\n'));
  const std::optional<std::int64_t> seconds = next_number(line);
  const std::optional<std::int64_t> rest = next_number(line);
  if (!seconds || !rest || *seconds > kMaxSeconds || *seconds < -kMaxSeconds) {
    return std::chrono::nanoseconds(0);
  }
  return std::chrono::seconds(*seconds) + std::chrono::nanoseconds(*rest);
}

std::chrono::nanoseconds monotonic_ahead(const Process& process) {
  const auto theirs = process.read("timens_offsets", kMaxBytes);
  const auto ours = base::read_file("/proc/self/timens_offsets", kMaxBytes);
  return theirs && ours ? monotonic_offset(*theirs) - monotonic_offset(*ours)
                        : std::chrono::nanoseconds(0);
}

} // namespace jprof::container
