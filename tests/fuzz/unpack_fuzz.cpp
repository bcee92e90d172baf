// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What gzip or zstd packed: the output stays within its bound, whatever the bytes.
#include "lib/formats/unpack.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLimit = std::size_t{1} << 20;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!jprof::formats::is_packed(bytes)) {
    return 0;
  }
  if (const auto text = jprof::formats::unpack(bytes, kLimit); text && text->size() > kLimit) {
    std::abort();
  }
  return 0;
}
