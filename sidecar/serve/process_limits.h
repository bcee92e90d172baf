// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstdint>

namespace jprof::serve {

inline constexpr std::uint64_t kMaxConnections = 4;

// Bytes of writable private memory that each child of a kind may have. All together (as many
// captures as are allowed, each with its recording region, every connection, an upload) stay below
// the container's limit, because the kernel's answer to an exceeded one is to kill all processes of
// the container at once.
struct MemoryPlan {
  std::uint64_t capture = 0;
  std::uint64_t connection = 0;
  std::uint64_t upload = 0;
};

// For a container limit in bytes; 0: no limit, planned as for 1 GiB.
MemoryPlan plan_memory(std::uint64_t container_limit, std::uint64_t concurrent_captures);
// This process's memory limit by its cgroups (container::own_memory_groups), 0 if there is none.
std::uint64_t container_memory_limit();

// For a child, before it does anything: memory (as RLIMIT_DATA: RLIMIT_AS would count address space
// that is only reserved, as every thread's heap is), file size, no core. 0 leaves a limit
// unchanged.
base::Status limit_this_process(std::uint64_t memory_bytes, std::uint64_t file_bytes);

} // namespace jprof::serve
