// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace jprof::base {

using Sha256 = std::array<std::byte, 32>;

Sha256 sha256(std::string_view bytes);
Sha256 hmac_sha256(std::string_view key, std::string_view bytes);
std::string sha256_hex(std::string_view bytes);
inline std::string_view as_text(const Sha256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// For data that comes in pieces. One thread at a time.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;
  void update(std::string_view bytes);
  // Ends the stream: call once.
  Sha256 finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// CRC-32C (Castagnoli, RFC 3720 appendix B.4); continue with the last result as `seed`.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed = 0);

} // namespace jprof::base
