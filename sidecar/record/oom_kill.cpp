// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/oom_kill.h"

#include <cstdint>
#include <string>

namespace jprof::record {

// The process gets SIGKILL, which may also come from somebody else.
std::optional<Ending> oom_kill_of(const container::Process& process,
                                  const std::optional<Headroom>& headroom, bool forced) {
  // Only then does the kernel say what ended it.
  (void)process.ends_within(container::Process::kEndTime);
  const std::string by = process.ending();
  const std::uint64_t kills = headroom ? headroom->oom_kills() : 0;
  if (kills == 0 || (!by.empty() && !by.starts_with("signal 9 "))) {
    return std::nullopt;
  }
  return Ending{
      "the kernel ended it for lack of memory (" + std::to_string(kills) +
          (kills == 1 ? " OOM kill" : " OOM kills") + " in its cgroup during the capture)",
      "raise the memory limit of the JVM's container, or give the JVM less (-Xmx)" +
          std::string(forced ? ", and do not use --force: without it jprof refuses where memory is "
                               "short"
                             : "")};
}

} // namespace jprof::record
