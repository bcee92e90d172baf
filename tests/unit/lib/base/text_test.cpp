// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/text.h"

#include <gtest/gtest.h>

namespace jprof::base {
namespace {

TEST(Text, LosesBlanksAtItsEndsOnly) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("xax", "x"), "a");
}

TEST(Text, HasLettersOfAsciiAloneInTwoSizes) {
  EXPECT_EQ(lowered("AZaz09[`\xc3\x84"), "azaz09[`\xc3\x84");
  EXPECT_TRUE(equal_ignoring_case("Content-Type", "content-tYPE"));
  EXPECT_FALSE(equal_ignoring_case("Content-Type", "content-typ"));
  EXPECT_FALSE(equal_ignoring_case("@", "`"));
}

} // namespace
} // namespace jprof::base
