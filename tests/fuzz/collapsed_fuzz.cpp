// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Folded text, with one count or two: read as a profile, drawn as it stands, and compared with
// itself.
#include "lib/render/collapsed_reader.h"
#include "tests/fuzz/profile_promises.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jprof;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto profile = render::read_collapsed(text, "input")) {
    fuzz::require_promises(*profile);
  }
  const std::string_view half = text.substr(0, size / 2);
  (void)render::diff_folded(half, text.substr(size / 2), {.normalize = true, .strip_hex = true});
  (void)render::write_svg(text, {.reverse = true});
  (void)render::write_svg(text, {.inverted = true, .flamechart = true});
  return 0;
}
