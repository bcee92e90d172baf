// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"

#include "lib/base/check.h"
#include "lib/base/encoding.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace jprof::base {
namespace {

constexpr std::uint32_t kCastagnoli = 0x82f63b78; // reflected polynomial

// Eight tables: one step takes eight bytes (slicing-by-8).
constexpr auto make_crc_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ ((crc & 1) != 0 ? kCastagnoli : 0);
    }
    tables[0][i] = crc;
  }
  for (std::uint32_t i = 0; i < 256; ++i) {
    for (std::size_t t = 1; t < 8; ++t) {
      tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
    }
  }
  return tables;
}
constexpr auto kCrcTables = make_crc_tables();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

} // namespace

struct Sha256Stream::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
  JPROF_CHECK(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}
Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::update(std::string_view bytes) {
  JPROF_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

Sha256 Sha256Stream::finish() {
  Sha256 out{};
  JPROF_CHECK(EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(out.data()),
                                 nullptr) == 1);
  return out;
}

Sha256 sha256(std::string_view bytes) {
  Sha256Stream stream;
  stream.update(bytes);
  return stream.finish();
}

Sha256 hmac_sha256(std::string_view key, std::string_view bytes) {
  Sha256 out{};
  unsigned length = 0;
  JPROF_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                   reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                   reinterpret_cast<unsigned char*>(out.data()), &length) != nullptr);
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  return hex(as_text(sha256(bytes)));
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed) {
  std::uint32_t crc = ~seed;
  while (bytes.size() >= 8) {
    const std::uint32_t low = crc ^ (byte_at(bytes, 0) | byte_at(bytes, 1) << 8 |
                                     byte_at(bytes, 2) << 16 | byte_at(bytes, 3) << 24);
    crc = kCrcTables[7][low & 0xff] ^ kCrcTables[6][low >> 8 & 0xff] ^
          kCrcTables[5][low >> 16 & 0xff] ^ kCrcTables[4][low >> 24] ^
          kCrcTables[3][byte_at(bytes, 4)] ^ kCrcTables[2][byte_at(bytes, 5)] ^
          kCrcTables[1][byte_at(bytes, 6)] ^ kCrcTables[0][byte_at(bytes, 7)];
    bytes.remove_prefix(8);
  }
  for (const char c : bytes) {
    crc = crc >> 8 ^ kCrcTables[0][(crc ^ static_cast<unsigned char>(c)) & 0xff];
  }
  return ~crc;
}

} // namespace jprof::base
