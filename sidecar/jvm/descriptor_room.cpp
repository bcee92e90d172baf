// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/descriptor_room.h"

#include <charconv>
#include <limits>
#include <string>

namespace jprof::jvm {
namespace {

// What attaching and a capture keep open in the JVM at once: the connection, the library while it
// is being loaded, /proc's directory of threads, the control socket, the region; the rest is the
// JVM's.
constexpr std::uint64_t kWanted = 8;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

} // namespace

std::uint64_t open_files_limit(std::string_view limits) {
  constexpr std::string_view kLine = "Max open files";
  const auto line = limits.find(kLine);
  const auto word =
      line == std::string_view::npos ? line : limits.find_first_not_of(' ', line + kLine.size());
  if (word == std::string_view::npos) {
    return 0;
  }
  const std::string_view rest = limits.substr(word);
  if (rest.starts_with("unlimited")) {
    return kNoLimit;
  }
  std::uint64_t limit = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), limit);
  return error == std::errc() ? limit : 0;
}

base::Status check_descriptor_room(const Target& target, const container::ProcessStatus& now) {
  constexpr std::size_t kLimitsBytes = 4096;
  const auto limits = target.process.read("limits", kLimitsBytes);
  const std::uint64_t limit = limits ? open_files_limit(*limits) : 0;
  // The descriptor table grows by doubling: for most JVMs nothing need be counted.
  if (limit == 0 || limit == kNoLimit ||
      (now.descriptor_slots != 0 && now.descriptor_slots + kWanted <= limit)) {
    return {};
  }
  std::uint64_t open = 0;
  const base::Status counted = target.process.visit("fd", [&](const std::string&) {
    return ++open + kWanted <= limit; // a hostile process may have millions
  });
  if (!counted || open + kWanted <= limit) {
    return {};
  }
  return base::make_failure(
      base::ErrorCode::kAttachFailed,
      "cannot attach to " + target.name() + ": it has fewer than " + std::to_string(kWanted) +
          " of its " + std::to_string(limit) +
          " file descriptors left, and a JVM that cannot "
          "accept one connection never answers another",
      "raise its limit on open files, or find what it leaves open: ls -l /proc/" +
          std::to_string(target.pid()) + "/fd");
}

} // namespace jprof::jvm
