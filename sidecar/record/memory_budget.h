// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace jprof::record {

// What this process's cgroup, and those above it, can still take. Nothing where there is no limit.
// Going over it would not fail but kill us: so it is asked before memory is taken.
std::optional<std::uint64_t> free_memory(const std::string& cgroup_mount = "/sys/fs/cgroup",
                                         const std::string& own_cgroup = "/proc/self/cgroup");

// The same, or this process's own limit (RLIMIT_DATA), whichever is less.
std::optional<std::uint64_t> available_memory();

// Of two bounds, each of which may be none.
std::optional<std::uint64_t> lesser(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b);

struct MemoryBudget {
  std::uint64_t region_bytes = 0;
  std::uint64_t dictionary_bytes = 0;
  std::uint64_t timed_samples = 0; // held at once when files are derived, with the time of each
};
// A quarter of what is there for the region, a quarter for names and stacks while it records, a
// quarter for samples when it renders, all within what makes sense.
MemoryBudget memory_budget(std::optional<std::uint64_t> free_bytes);

// Of a capture, if nobody asks for another.
inline constexpr std::chrono::milliseconds kUsualInterval{10};

struct RegionNeed {
  std::chrono::nanoseconds interval{0}; // of CPU time, between samples of a thread
  long processors = 1;
  std::uint64_t threads = 0; // that the JVM has now
};
// What a region must have, from a quarter of kDefaultRegionBytes up to all of it: making it is most
// of the work of a start, and few processors sampled each 10 ms fill little. It is for half a
// second of deep stacks that all differ, and for twice the threads that there are.
std::uint64_t region_bytes_for(const RegionNeed& need);
// The same for this machine's processors and the interval that captures have if nobody asks for
// another.
std::uint64_t usual_region_bytes(std::uint64_t threads);

} // namespace jprof::record
