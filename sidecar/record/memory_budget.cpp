// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/memory_budget.h"

#include "lib/base/file.h"
#include "lib/profile/profile.h"
#include "sidecar/record/intake.h"
#include "sidecar/record/region.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <sys/resource.h>

namespace jprof::record {
namespace {

constexpr std::size_t kMostFileBytes = 64U << 10;
// cgroup v1 writes "no limit" as a number near 2^63.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;

struct Files {
  std::string folder;
  const char* limit;
  const char* usage;
  std::string_view inactive; // its key in memory.stat
};

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt; // "max" is no limit
}

std::optional<std::uint64_t> read_number(const std::string& path) {
  const base::Result<std::string> text = base::read_file(path, kMostFileBytes);
  return text ? number_in(*text) : std::nullopt;
}

std::uint64_t value_of(std::string_view text, std::string_view key) {
  const std::string wanted = std::string(key) + ' ';
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with(wanted)) {
      return number_in(line.substr(wanted.size())).value_or(0);
    }
    at += line.size() + 1;
  }
  return 0;
}

std::optional<std::uint64_t> free_in(const Files& files) {
  const auto limit = read_number(files.folder + files.limit);
  const auto usage = read_number(files.folder + files.usage);
  if (!limit || !usage || *limit >= kNoLimit) {
    return std::nullopt;
  }
  const std::string stat =
      base::read_file(files.folder + "memory.stat", kMostFileBytes).value_or(std::string());
  const std::uint64_t inactive = std::min(value_of(stat, files.inactive), *usage);
  const std::uint64_t used = *usage - inactive;
  return *limit > used ? *limit - used : 0;
}

// "0::/kubepods/pod1/c": where our group lies where the mount shows the whole tree.
std::string own_path(const std::string& text, std::string_view controller) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = std::string_view(text).substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second != std::string_view::npos &&
        line.substr(first + 1, second - first - 1) == controller) {
      return std::string(line.substr(second + 1));
    }
  }
  return "/";
}

} // namespace

std::optional<std::uint64_t> free_memory(const std::string& cgroup_mount,
                                         const std::string& own_cgroup) {
  const std::string groups = base::read_file(own_cgroup, kMostFileBytes).value_or(std::string());
  const auto v2 = [](const std::string& folder) {
    return Files{folder + '/', "memory.max", "memory.current", "inactive_file"};
  };
  const auto v1 = [](const std::string& folder) {
    return Files{folder + '/', "memory.limit_in_bytes", "memory.usage_in_bytes",
                 "total_inactive_file"};
  };
  // In a container the mount shows our own group as its root; elsewhere the whole tree.
  const std::array<Files, 4> places{v2(cgroup_mount), v2(cgroup_mount + own_path(groups, "")),
                                    v1(cgroup_mount + "/memory"),
                                    v1(cgroup_mount + "/memory" + own_path(groups, "memory"))};
  std::optional<std::uint64_t> least;
  for (const Files& files : places) {
    if (const auto here = free_in(files)) {
      least = std::min(least.value_or(*here), *here);
    }
  }
  return least;
}

std::optional<std::uint64_t> available_memory() {
  std::optional<std::uint64_t> least = free_memory();
  rlimit data{};
  if (::getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY) {
    least = std::min<std::uint64_t>(least.value_or(data.rlim_cur), data.rlim_cur);
  }
  return least;
}

MemoryBudget memory_budget(std::optional<std::uint64_t> free_bytes) {
  constexpr std::uint64_t kLeastDictionaryBytes = 4U << 20;
  constexpr std::uint64_t kLeastTimedSamples = 20'000;
  constexpr std::uint64_t kMostTimedSamples = 2'000'000;
  const std::uint64_t most_dictionary = IntakeLimits{}.dictionary_bytes;
  if (!free_bytes) {
    return {kDefaultRegionBytes, most_dictionary, kMostTimedSamples};
  }
  return {std::clamp<std::uint64_t>(*free_bytes / 4, kLeastRegionBytes, kDefaultRegionBytes),
          std::clamp<std::uint64_t>(*free_bytes / 4, kLeastDictionaryBytes, most_dictionary),
          std::clamp<std::uint64_t>(*free_bytes / 4 / sizeof(profile::Sample), kLeastTimedSamples,
                                    kMostTimedSamples)};
}

std::uint64_t region_bytes_for(const RegionNeed& need) {
  // Half a second of stacks of 1024 frames, 8 bytes each, in an arena that is a quarter of the
  // region (docs/formats/region.md).
  constexpr double kBytesForRate = 16384;
  constexpr std::uint64_t kBytesForThread = 8192; // agent/recording/region_layout
  constexpr std::uint64_t kSpareThreads = 256;
  const double seconds = std::max(1e-6, std::chrono::duration<double>(need.interval).count());
  const double for_rate = static_cast<double>(need.processors) / seconds * kBytesForRate;
  const std::uint64_t threads = std::min<std::uint64_t>(need.threads, 1U << 20);
  const std::uint64_t for_threads = (2 * threads + kSpareThreads) * kBytesForThread;
  if (for_rate >= static_cast<double>(kDefaultRegionBytes)) {
    return kDefaultRegionBytes;
  }
  return std::clamp(std::max(static_cast<std::uint64_t>(for_rate), for_threads),
                    kDefaultRegionBytes / 4, kDefaultRegionBytes);
}

} // namespace jprof::record
