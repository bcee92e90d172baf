// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"
#include "sidecar/container/process.h"
#include "sidecar/container/target_root.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jprof::container {

// How much memory a group of processes may use, and how much it uses.
struct MemoryRoom {
  std::optional<std::uint64_t> limit; // none: only the groups above it limit it
  // Without the file cache that no process has mapped: the kernel gives that up before it ends any
  // process for lack of memory (mm/vmscan.c). What is mapped is the programs' own code, and memory
  // in files (tmpfs, memfd) cannot be given up.
  std::uint64_t used = 0;
  // Version 1 reports the smallest limit of those above, though not what they have used.
  bool limit_is_inherited = false;

  std::optional<std::uint64_t> left() const {
    return limit ? std::optional(*limit > used ? *limit - used : 0) : std::nullopt;
  }
};

// A memory cgroup, of version 2 or 1, held open: it can be read again and again, even by a process
// that may no longer open anything. Movable.
class MemoryGroup {
 public:
  // For its folder. Empty if it does not report memory: no such controller, or version 2's root.
  static std::optional<MemoryGroup> open(int folder, std::string path);

  // As of now; empty if it is gone.
  std::optional<MemoryRoom> room() const;
  // Processes that the kernel has ended in it so far for lack of memory (version 1 since Linux
  // 4.13; version 2 also counts those of groups below). Empty if it can no longer be read.
  std::optional<std::uint64_t> oom_kills() const;
  // As in /proc/PID/cgroup: equal for two processes if they are in the same group.
  const std::string& path() const { return path_; }

 private:
  struct Version;
  MemoryGroup(const Version& version, std::string path)
      : version_(&version), path_(std::move(path)) {}

  const Version* version_;
  std::string path_;
  base::UniqueFd limit_;
  base::UniqueFd usage_;
  base::UniqueFd stat_;
  base::UniqueFd events_;
};

// This process's group and those above it, as far as `mount` shows them, innermost first. In a
// container these are the container's own; elsewhere all of them.
std::vector<MemoryGroup> own_memory_groups(const std::string& mount = "/sys/fs/cgroup",
                                           const std::string& self = "/proc/self/cgroup");
// The same for another process: through our own mount if that shows its group, otherwise through
// the mount in its root, where a container's runtime has put its own group. Anything there that is
// not a cgroup is not read. Empty: it cannot be known.
std::vector<MemoryGroup> memory_groups_of(const Process& process, const TargetRoot& root,
                                          const std::string& mount = "/sys/fs/cgroup");

// The smallest limit of these groups, and the least that any of them has left; empty if none of
// them has a limit.
std::optional<std::uint64_t> least_limit(const std::vector<MemoryGroup>& groups);
std::optional<std::uint64_t> least_left(const std::vector<MemoryGroup>& groups);

// What the machine could still hand out (MemAvailable); empty if that cannot be read.
std::optional<std::uint64_t> machine_memory(const std::string& meminfo = "/proc/meminfo");

} // namespace jprof::container
