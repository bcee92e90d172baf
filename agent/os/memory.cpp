// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The four functions that GCC may call for any C++ program, so that the agent needs none of libc's
// (whose memcpy has a newer symbol version than we allow). Compiled with
// -fno-tree-loop-distribute-patterns: otherwise each loop would become a call to the function
// itself.

#include <cstddef>
#include <cstdint>

extern "C" {

__attribute__((visibility("hidden"))) void* memcpy(void* to, const void* from, std::size_t bytes) {
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  for (; bytes >= sizeof(std::uint64_t); bytes -= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, in, sizeof word); // a single load: the size is a constant
    __builtin_memcpy(out, &word, sizeof word);
    in += sizeof word;
    out += sizeof word;
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    out[i] = in[i];
  }
  return to;
}

__attribute__((visibility("hidden"))) void* memmove(void* to, const void* from, std::size_t bytes) {
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  if (out <= in || out >= in + bytes) {
    return memcpy(to, from, bytes);
  }
  for (std::size_t i = bytes; i > 0; --i) {
    out[i - 1] = in[i - 1];
  }
  return to;
}

__attribute__((visibility("hidden"))) void* memset(void* to, int value, std::size_t bytes) {
  auto* out = static_cast<unsigned char*>(to);
  const std::uint64_t word = 0x0101010101010101ULL * static_cast<unsigned char>(value);
  for (; bytes >= sizeof word; bytes -= sizeof word) {
    __builtin_memcpy(out, &word, sizeof word);
    out += sizeof word;
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    out[i] = static_cast<unsigned char>(value);
  }
  return to;
}

__attribute__((visibility("hidden"))) int memcmp(const void* left, const void* right,
                                                 std::size_t bytes) {
  const auto* a = static_cast<const unsigned char*>(left);
  const auto* b = static_cast<const unsigned char*>(right);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (a[i] != b[i]) {
      return a[i] < b[i] ? -1 : 1;
    }
  }
  return 0;
}

} // extern "C"
