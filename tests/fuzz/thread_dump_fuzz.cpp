// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Thread dumps: the names of threads and methods are those of the JVM that was asked.
#include "lib/render/thread_dump_reader.h"
#include "tests/fuzz/profile_promises.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)jprof::render::looks_like_thread_dump(text);
  if (const auto profile = jprof::render::read_thread_dumps(text, "input")) {
    jprof::fuzz::require_promises(*profile);
  }
  return 0;
}
