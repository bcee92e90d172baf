// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The bytes of a libjvm.so and of a file called release, both the target's.
#include "sidecar/jvm/jvm_release.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  jprof::jvm::LibraryScan scan;
  scan.add(text);
  if (scan.found().version.size() > 128) {
    std::abort();
  }
  (void)jprof::jvm::parse_release_file(text);
  (void)jprof::jvm::machine_name(text);
  return 0;
}
