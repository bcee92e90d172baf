// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/control/failure.h"

#include <cstdint>

namespace jprof::agent {

// Maps the region that the sidecar has made. Its pages must already be charged to the sidecar's
// cgroup, because a page that we touched first would be charged to the JVM's, and it must be sealed
// so that it cannot shrink under us.
Failure map_region(int fd, std::uint64_t bytes, void** region);

// Makes the page table entries that handlers would otherwise make one by one. MAP_POPULATE would
// keep the address space locked until all are made, while the JVM's threads wait to change it;
// reading takes no longer, and holds that lock for one fault at a time.
void touch_region(const void* region, std::uint64_t bytes);

} // namespace jprof::agent
