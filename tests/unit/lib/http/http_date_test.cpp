// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/http_date.h"

#include <gtest/gtest.h>

namespace jprof::http {
namespace {

TEST(HttpDate, ReadsTheFixedForm) {
  const auto date = parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT");

  ASSERT_TRUE(date.has_value());
  EXPECT_EQ(date->time_since_epoch().count(), 784111777);
}

TEST(HttpDate, ReadsNothingElse) {
  for (const char* text : {"", "10", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
                           "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Xov 1994 08:49:37 GMT",
                           "Sun, aa Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 28:49:37 GMT"}) {
    EXPECT_FALSE(parse_http_date(text).has_value()) << text;
  }
}

} // namespace
} // namespace jprof::http
