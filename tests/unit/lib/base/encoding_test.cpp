// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"

#include <gtest/gtest.h>

#include <string>

namespace jprof::base {
namespace {

// RFC 4648, section 10.
TEST(Base64, MatchesTheStandardsVectors) {
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("fo"), "Zm8=");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
}

TEST(Base64, DecodesWhatItEncodes) {
  std::string all;
  for (int i = 0; i < 256; ++i) {
    all += static_cast<char>(i);
    EXPECT_EQ(*base64_decode(base64_encode(all)), all);
  }
}

TEST(Base64, RefusesGarbage) {
  for (const char* bad : {"Zg", "Zg=", "Zg==Zg==", "Z===", "Zm9v!", "====="}) {
    EXPECT_FALSE(base64_decode(bad).has_value()) << bad;
  }
  EXPECT_EQ(*base64_decode("Zm9v\nYmFy\n"), "foobar");
}

TEST(PercentEncode, KeepsOnlyUnreservedCharacters) {
  EXPECT_EQ(percent_encode("a b/c:=+~é"), "a%20b%2Fc%3A%3D%2B~%C3%A9");
  EXPECT_EQ(percent_encode("a/b c", Slash::kKeep), "a/b%20c");
}

TEST(Printable, MakesControlsAndDirectionMarksVisible) {
  EXPECT_EQ(printable("a\nb\x1b[31m"), "a\\nb\\x1b[31m");
  EXPECT_EQ(printable("x\u202ey"), "x\\u202ey");
  EXPECT_EQ(printable("x\u00ady\u2060\u009b"), "x\\xady\\u2060\\x9b");
  EXPECT_EQ(printable("\U000e0041"), "\\U000e0041");
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("größe"), "größe");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, CutsAtACharacter) {
  EXPECT_EQ(printable("ééé", 4), "éé...");
}

} // namespace
} // namespace jprof::base
