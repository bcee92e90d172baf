// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/control/failure.h"

#include <cstdint>

namespace jprof::agent {

// Maps the region that the sidecar has made. It is already charged to the sidecar's cgroup: a page
// that we touched first would be charged to the JVM's. And it cannot shrink under us.
Failure map_region(int fd, std::uint64_t bytes, void** region);

// Makes the page table entries that handlers would otherwise make one by one. It does not use
// MAP_POPULATE, which keeps the address space locked until all are made, while a JVM's threads wait
// to change it: reading takes no longer, and holds that lock for one fault at most.
void touch_region(const void* region, std::uint64_t bytes);

} // namespace jprof::agent
