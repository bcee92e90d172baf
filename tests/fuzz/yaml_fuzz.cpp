// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/yaml_reader.h"

#include <cstddef>
#include <cstdint>

// Any bytes: an error or a tree within the limits, never a crash. yaml-cpp itself is in reach.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(jprof::config::parse_yaml(text, "fuzz", {.bytes = 64 * 1024}));
  return 0;
}
