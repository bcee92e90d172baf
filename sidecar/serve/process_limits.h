// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstdint>

namespace jprof::serve {

// Bytes of writable private memory that each kind of child may have. Their sum with the recording
// region stays below the container's limit, because the kernel's answer to an exceeded one is to
// kill all of the container's processes at once.
struct MemoryPlan {
  std::uint64_t capture = 0;
  std::uint64_t connection = 0;
  std::uint64_t upload = 0;
};

// Of a container limit in bytes; 0: no limit.
MemoryPlan plan_memory(std::uint64_t container_limit);
// This process's limit of memory by its cgroup (version 1 or 2), 0 if there is none.
std::uint64_t container_memory_limit();

// For a child, before it does anything: memory (as RLIMIT_DATA: RLIMIT_AS would count address space
// that is only reserved, as every thread's heap does), file size, no core. 0 leaves as it is.
base::Status limit_this_process(std::uint64_t memory_bytes, std::uint64_t file_bytes);

} // namespace jprof::serve
