// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/random.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/random.h>
#include <unistd.h>

namespace jprof::base {

Status random_bytes(std::span<std::byte> out) {
  while (!out.empty()) {
    constexpr std::size_t kMax = 256; // getentropy(3) gives no more in one call
    const std::size_t step = std::min(out.size(), kMax);
    if (::getentropy(out.data(), step) != 0) {
      return errno_failure(errno, "cannot get random bytes");
    }
    out = out.subspan(step);
  }
  return {};
}

Result<std::string> random_base32(std::size_t characters) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::string out(characters, '\0');
  JPROF_TRY(random_bytes(std::as_writable_bytes(std::span(out))));
  for (char& c : out) {
    c = kAlphabet[static_cast<unsigned char>(c) % kAlphabet.size()];
  }
  return out;
}

} // namespace jprof::base
