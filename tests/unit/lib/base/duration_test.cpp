// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/duration.h"

#include <gtest/gtest.h>

namespace jprof::base {
namespace {

using namespace std::chrono_literals;

TEST(ParseDuration, TakesNumbersWithUnits) {
  EXPECT_EQ(*parse_duration("10ms"), 10ms);
  EXPECT_EQ(*parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(*parse_duration("1h30m"), 90min);
  EXPECT_EQ(*parse_duration("100us"), 100us);
  EXPECT_EQ(*parse_duration("0s"), 0s);
}

TEST(ParseDuration, RefusesWhatHasNoUnitOrNoNumber) {
  for (const char* bad : {"", "10", "s", "10 s", "-1s", "1.s", "1..5s", "1d", "1s2", "ten",
                          "99999999999999999999s", "9000000h"}) {
    EXPECT_EQ(parse_duration(bad).error().code, ErrorCode::kUsage) << bad;
  }
}

TEST(FormatDuration, IsReadBackExactly) {
  for (const auto value :
       {std::chrono::nanoseconds(0), std::chrono::nanoseconds(1), std::chrono::nanoseconds(10ms),
        std::chrono::nanoseconds(90s), std::chrono::nanoseconds(3'661'000'000'001)}) {
    EXPECT_EQ(*parse_duration(format_duration(value)), value);
  }
  EXPECT_EQ(format_duration(90s), "1m30s");
}

} // namespace
} // namespace jprof::base
