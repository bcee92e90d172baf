// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/error.h"
#include "lib/base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace jprof::base {
namespace {

TEST(ErrorCode, HasAUniqueWordThatLeadsBackToIt) {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_TRUE(words.insert(reason_word(code)).second) << reason_word(code);
    EXPECT_EQ(code_from_word(reason_word(code)), code);
    EXPECT_GT(exit_code(code), 1);
  }
}

TEST(ErrnoError, NamesCauseAndObject) {
  const Error error = errno_error(EACCES, "cannot open /proc/42/maps");

  EXPECT_EQ(error.code, ErrorCode::kPermission);
  EXPECT_EQ(error.message, "cannot open /proc/42/maps: Permission denied");
  EXPECT_EQ(error.os_errno, EACCES);
}

Result<int> half(int value) {
  if (value % 2 != 0) {
    return make_failure(ErrorCode::kUsage, "odd");
  }
  return value / 2;
}

Result<int> quarter(int value) {
  JPROF_TRY_ASSIGN(const int first, half(value));
  JPROF_TRY_ASSIGN(const int second, half(first));
  return second;
}

TEST(Result, PassesErrorsUp) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
}

} // namespace
} // namespace jprof::base
