// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/memory_budget.h"

#include "lib/profile/profile.h"
#include "sidecar/container/memory_group.h"
#include "sidecar/record/intake.h"
#include "sidecar/record/region_memory.h"

#include <algorithm>
#include <sys/resource.h>
#include <unistd.h>

namespace jprof::record {

std::optional<std::uint64_t> free_memory(const std::string& cgroup_mount,
                                         const std::string& own_cgroup) {
  return container::least_left(container::own_memory_groups(cgroup_mount, own_cgroup));
}

std::optional<std::uint64_t> available_memory() {
  std::optional<std::uint64_t> least = free_memory();
  rlimit data{};
  if (::getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY) {
    least = std::min<std::uint64_t>(least.value_or(data.rlim_cur), data.rlim_cur);
  }
  return least;
}

std::optional<std::uint64_t> lesser(std::optional<std::uint64_t> a,
                                    std::optional<std::uint64_t> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

MemoryBudget memory_budget(std::optional<std::uint64_t> free_bytes) {
  constexpr std::uint64_t kMinDictionaryBytes = 4U << 20;
  constexpr std::uint64_t kMinTimedSamples = 20'000;
  constexpr std::uint64_t kMaxTimedSamples = 2'000'000;
  const std::uint64_t most_dictionary = IntakeLimits{}.dictionary_bytes;
  if (!free_bytes) {
    return {kDefaultRegionBytes, most_dictionary, kMaxTimedSamples};
  }
  return {std::clamp<std::uint64_t>(*free_bytes / 4, kMinRegionBytes, kDefaultRegionBytes),
          std::clamp<std::uint64_t>(*free_bytes / 4, kMinDictionaryBytes, most_dictionary),
          std::clamp<std::uint64_t>(*free_bytes / 4 / sizeof(profile::Sample), kMinTimedSamples,
                                    kMaxTimedSamples)};
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

std::uint64_t default_region_bytes(std::uint64_t threads) {
  return region_bytes_for({.interval = kDefaultInterval,
                           .processors = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)),
                           .threads = threads});
}

} // namespace jprof::record
