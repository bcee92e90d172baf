// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/utf8.h"

#include <gtest/gtest.h>

namespace jprof::base {
namespace {

TEST(SanitizeUtf8, ReplacesOverlongSurrogateAndTruncatedForms) {
  EXPECT_EQ(sanitize_utf8("grün €"), "grün €");
  EXPECT_EQ(sanitize_utf8("\xc0\x80"), "\ufffd\ufffd");
  EXPECT_EQ(sanitize_utf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(sanitize_utf8("a\xe2\x82"), "a\ufffd\ufffd");
  EXPECT_EQ(sanitize_utf8("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");
}

// JVMS 4.4.7.
TEST(FromModifiedUtf8, JoinsSurrogatesAndNul) {
  EXPECT_EQ(from_modified_utf8("\xc0\x80"), std::string(1, '\0'));
  EXPECT_EQ(from_modified_utf8("\xed\xa0\xbd\xed\xb8\x80"), "\U0001F600");
  EXPECT_EQ(from_modified_utf8("\xed\xa0\xbdx"), "\ufffdx");
  EXPECT_EQ(from_modified_utf8("com/acme/Größe"), "com/acme/Größe");
}

} // namespace
} // namespace jprof::base
