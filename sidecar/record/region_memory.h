// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <cstddef>
#include <cstdint>

namespace jprof::record {

inline constexpr std::uint64_t kDefaultRegionBytes = 16U << 20;
inline constexpr std::uint64_t kMinRegionBytes = 1U << 20;

// The memory that agent and sidecar share: a memfd whose pages exist before the JVM sees it, so
// that they are charged to our cgroup instead of the JVM's, and whose size is sealed, so that
// neither side can make the other's accesses fail. `bytes` is rounded up to whole pages.
base::Result<base::UniqueFd> make_region(std::uint64_t bytes);

} // namespace jprof::record
