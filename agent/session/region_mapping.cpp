// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/session/region_mapping.h"

#include "agent/os/system.h"
#include "agent/recording/region_layout.h"

#include <sys/mman.h>

namespace jprof::agent {
namespace {

using wire::AgentStatus;

constexpr std::uint64_t kPageBytes = 4096;

} // namespace

Failure map_region(int fd, std::uint64_t bytes, void** region) {
  if (bytes < recording::kMinRegionBytes || bytes > recording::kMaxRegionBytes) {
    return {AgentStatus::kRegionTooSmall, 0, "a region must have 512 KiB to 1 GiB"};
  }
  if (!os::is_allocated(fd, bytes)) {
    return {AgentStatus::kMapFailed, 0, "the region is not fully allocated"};
  }
  constexpr long kNeededSeals = F_SEAL_SHRINK;
  long result = arch::system_call(SYS_fcntl, fd, F_GET_SEALS);
  if (result < 0 || (result & kNeededSeals) != kNeededSeals) {
    return {AgentStatus::kMapFailed, result < 0 ? result : 0, "the region is not sealed"};
  }
  result = arch::system_call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                             MAP_SHARED, fd, 0); // its pages: touch_region()
  if (result < 0 && result > -4096) {
    return {AgentStatus::kMapFailed, result, "mmap of the region"};
  }
  *region = reinterpret_cast<void*>(result);
  arch::system_call(SYS_madvise, result, static_cast<long>(bytes), MADV_DONTFORK);
  arch::system_call(SYS_madvise, result, static_cast<long>(bytes), MADV_DONTDUMP);
  return {};
}

void touch_region(const void* region, std::uint64_t bytes) {
  const auto* at = static_cast<const volatile std::uint8_t*>(region);
  for (std::uint64_t offset = 0; offset < bytes; offset += kPageBytes) {
    static_cast<void>(at[offset]);
  }
}

} // namespace jprof::agent
