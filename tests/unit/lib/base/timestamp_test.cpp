// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/timestamp.h"

#include <gtest/gtest.h>

namespace jprof::base {
namespace {

using namespace std::chrono;

TEST(Timestamp, WritesUtcWithWholeSeconds) {
  EXPECT_EQ(format_utc(system_clock::time_point{}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_utc(system_clock::from_time_t(1'709'210'096)), "2024-02-29T12:34:56Z");
}

TEST(Timestamp, StaysInFourDigitYears) {
  EXPECT_EQ(format_utc(system_clock::time_point{} - hours(1)), "1970-01-01T00:00:00Z");
}

TEST(Timestamp, ReadsBackWhatItWrote) {
  const auto time = system_clock::from_time_t(1'709'210'096);
  EXPECT_EQ(*parse_utc(format_utc(time)), time);
  EXPECT_EQ(*parse_utc("2024-02-29T12:34:56.123456789Z"), time);
}

TEST(Timestamp, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "Z", "2024-02-29", "2024-02-30T00:00:00Z", "2024-13-01T00:00:00Z",
        "2024-02-29T24:00:00Z", "2024-02-29T12:34:56", "2024-02-29T12:34:56+01:00",
        "2024-02-29 12:34:56Z", "2024-02-29T12:34:56.Z", "2024-02-29T12:34:56.1xZ",
        "-024-02-29T12:34:56Z", "2024-02-29T12:34:5 Z", "../../../etc/passwd"}) {
    EXPECT_FALSE(parse_utc(text)) << text;
  }
}

} // namespace
} // namespace jprof::base
