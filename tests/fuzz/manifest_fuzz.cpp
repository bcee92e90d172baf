// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/check.h"
#include "lib/capture/manifest.h"
#include "lib/capture/object_key.h"

#include <cstddef>
#include <cstdint>

// Any object in the place of a manifest: what is accepted has a key within its prefix, and is
// written so that it is accepted again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jprof;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(capture::parse_manifest(text));
  const auto json = base::parse_json(text);
  if (!json) {
    return 0;
  }
  const auto manifest = capture::manifest_from_json(*json);
  if (!manifest) {
    return 0;
  }
  const auto key = capture::object_directory("p", *manifest);
  JPROF_CHECK(key && key->starts_with("p/v1/") && key->find("/../") == std::string::npos);
  const std::string written = capture::encode_manifest(*manifest);
  const auto again = capture::parse_manifest(written);
  JPROF_CHECK(again && capture::encode_manifest(*again) == written);
  return 0;
}
