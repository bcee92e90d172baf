// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace jprof::record {

// What this process's cgroup, and those above it, can still take; nothing if there is no limit.
// Exceeding it would not fail but kill us, so it is read before memory is taken.
std::optional<std::uint64_t> free_memory(const std::string& cgroup_mount = "/sys/fs/cgroup",
                                         const std::string& own_cgroup = "/proc/self/cgroup");

// The same or this process's own limit (RLIMIT_DATA), whichever is less.
std::optional<std::uint64_t> available_memory();

// The lesser of two bounds, either of which may be absent.
std::optional<std::uint64_t> lesser(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b);

struct MemoryBudget {
  std::uint64_t region_bytes = 0;
  std::uint64_t dictionary_bytes = 0;
  std::uint64_t timed_samples = 0; // held at once, each with its time, when files are derived
};
// A quarter of what is free goes to the region, a quarter to names and stacks during recording, and
// a quarter to samples during rendering, all within sensible limits.
MemoryBudget memory_budget(std::optional<std::uint64_t> free_bytes);

// The default interval of a capture.
inline constexpr std::chrono::milliseconds kDefaultInterval{10};

struct RegionNeed {
  std::chrono::nanoseconds interval{0}; // in CPU time, between the samples of a thread
  long processors = 1;
  std::uint64_t threads = 0; // of the JVM, now
};
// How large a region must be, from a quarter of kDefaultRegionBytes to all of it: making it is most
// of the work of a start, and few processors sampled every 10 ms fill little. It has room for half
// a second of deep stacks that all differ, and for twice the current number of threads.
std::uint64_t region_bytes_for(const RegionNeed& need);
// The same for this machine's processors and the default interval.
std::uint64_t default_region_bytes(std::uint64_t threads);

} // namespace jprof::record
