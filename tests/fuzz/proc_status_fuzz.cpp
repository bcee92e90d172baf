// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// /proc/PID/status and stat: the name in them is the target's.
#include "sidecar/container/status.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto status = jprof::container::parse_status(text)) {
    if (status->namespace_pids.empty()) {
      std::abort(); // innermost_pid() relies on one
    }
  }
  (void)jprof::container::parse_stat(text);
  return 0;
}
