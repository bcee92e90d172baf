// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// /proc/PID/maps: the kernel writes the lines, the target chose the paths.
#include "sidecar/container/maps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  jprof::container::VmFinder finder;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (const auto mapping = jprof::container::parse_mapping(rest.substr(0, end))) {
      finder.add(*mapping);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  (void)finder.result();
  return 0;
}
