// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "sidecar/container/memory_group.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jprof::record {

// What a capture needs, in bytes, as measured in a cgroup of its own (docs/design/memory.md).
struct MemoryNeed {
  std::uint64_t ours = 0;       // the region and our processes
  std::uint64_t ours_least = 0; // with the smallest region and dictionary
  std::uint64_t agent = 0;      // in the JVM's own container
};
MemoryNeed memory_need(std::uint64_t region_bytes);

// What the cgroups do not say.
struct Surroundings {
  std::uint64_t pod_limit = 0;    // as the caller knows it from the API; 0: unknown
  std::uint64_t node_reserve = 0; // what must remain free on the node
  std::string meminfo = "/proc/meminfo";
};
// In a pod the kubelet evicts pods once the node has less than its memory.available (100Mi, if
// nobody has changed it); elsewhere nothing is reserved.
Surroundings surroundings(std::uint64_t pod_limit);

// Memory that is left where a capture takes some: in the JVM's container, in ours, in what holds
// both (a common group, the pod), and on the machine. Each call reads it again. Nothing is guessed:
// what cannot be read is reported as such and limits nothing.
class Headroom {
 public:
  Headroom(std::vector<container::MemoryGroup> ours, std::vector<container::MemoryGroup> theirs,
           Surroundings around);

  // kLimit with the figures and the cure if a capture does not fit: the kernel would end some
  // process for it, and the JVM is the largest.
  base::Status check(const MemoryNeed& need) const;
  // During a capture: why it must end now; empty as long as there is room. Where memory is shared,
  // what we hold is what the JVM will lack.
  std::string shortage() const;
  // What our processes may still take, the least of all places; nothing if there is no limit.
  std::optional<std::uint64_t> for_us() const;
  // All that is known, in words, and all that is not.
  std::string text() const;
  // Whether what we hold, including file cache, is charged to the cgroup of the JVM.
  bool shares_group() const { return !theirs_.empty() && is_shared(theirs_.front()); }
  // Processes in the JVM's own group that the kernel has ended for lack of memory since this was
  // made; 0 if that cannot be known.
  std::uint64_t oom_kills() const;
  // Whether the JVM's own group could be seen.
  bool sees_target() const { return !theirs_.empty(); }

 private:
  enum class Payer { kOurs, kTheirs, kBoth };
  struct Place {
    Payer payer = Payer::kBoth;
    std::string what; // "the JVM's container uses 30 MiB of its limit of 33 MiB"
    std::uint64_t left = 0;
    bool is_node = false;
  };
  std::vector<Place> places() const;
  void add_theirs(std::vector<Place>& places) const;
  void add_ours(std::vector<Place>& places) const;
  void add_pod(std::vector<Place>& places) const;
  void add_node(std::vector<Place>& places) const;
  std::uint64_t pod_limit() const;
  bool is_shared(const container::MemoryGroup& group) const;

  std::vector<container::MemoryGroup> ours_;
  std::vector<container::MemoryGroup> theirs_;
  Surroundings around_;
  std::uint64_t oom_kills_before_ = 0;
};

} // namespace jprof::record
