// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where each stub is. The JVM generates hundreds of stubs (array copies, ciphers, checksums) into a
// few blobs, so the name of a blob says little: "StubRoutines (compiler stubs)". Filled by
// jvm/stub_list.cpp before the handlers read it, never changed while they do; find() is
// signal-safe.

#include <cstdint>

namespace jprof::agent::sampling {

struct StubName {
  std::uint32_t begin = 0; // from the table's code base
  std::uint32_t bytes = 0;
  std::uint64_t text = 0; // a C string of libjvm's
};

struct StubNames {
  static constexpr std::uint32_t kMax = 1024; // 25 has 330 on x86-64

  std::uint64_t code_base = 0;
  std::uint32_t count = 0;
  StubName stubs[kMax]; // by begin

  // Null if `pc` is in no stub of the list.
  const StubName* find(std::uint64_t pc) const {
    std::uint32_t low = 0;
    std::uint32_t high = count;
    while (low < high) {
      const std::uint32_t middle = (low + high) / 2;
      if (pc - code_base >= stubs[middle].begin) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (pc < code_base || low == 0) {
      return nullptr;
    }
    const StubName& stub = stubs[low - 1];
    return pc - code_base - stub.begin < stub.bytes ? &stub : nullptr;
  }
};

} // namespace jprof::agent::sampling
