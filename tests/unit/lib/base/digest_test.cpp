// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/base/encoding.h"

#include <gtest/gtest.h>

#include <string>

namespace jprof::base {
namespace {

// RFC 3720, B.4.
TEST(Crc32c, MatchesTheStandardsVectors) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
}

TEST(Crc32c, ContinuesFromASeed) {
  EXPECT_EQ(crc32c("56789", crc32c("1234")), crc32c("123456789"));
}

// FIPS 180-2, B.1; RFC 4231, test case 2.
TEST(Sha256, MatchesTheStandardsVectors) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(as_text(hmac_sha256("Jefe", "what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Sha256Stream, GivesTheSameForPieces) {
  Sha256Stream stream;
  stream.update("a");
  stream.update("bc");

  EXPECT_EQ(hex(as_text(stream.finish())), sha256_hex("abc"));
}

} // namespace
} // namespace jprof::base
