// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// /proc/PID/cgroup and mountinfo: paths that whoever made the cgroup or mount chose.
#include "sidecar/container/cgroup.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  jprof::container::ContainerIds ids = jprof::container::parse_cgroup(text);
  jprof::container::complete_from_mountinfo(text, ids);
  constexpr std::string_view kAllowed = "0123456789abcdef-";
  for (const std::string& id : {ids.container_id, ids.pod_uid}) {
    if (id.size() > 64 || id.find_first_not_of(kAllowed) != std::string::npos) {
      std::abort(); // they go into tables and object keys
    }
  }
  return 0;
}
