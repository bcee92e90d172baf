// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/line_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

namespace jprof::record {
namespace {

// Entries are bci and line, each relative to the one before: five bits and three, or 0xff and two
// numbers.
TEST(LineTable, TellsTheLineOfEachBytecode) {
  const std::string bytes{static_cast<char>(0xff),
                          0x00,
                          0x14, // bci 0, line 10
                          0x1a, // bci 3, line 12
                          static_cast<char>(0xff),
                          0x50,
                          0x01, // bci 43, line 11: -1
                          0x00,
                          0x55,
                          0x55}; // the end, and what is not the table's
  const LineTable table(bytes, false);

  EXPECT_EQ(table.line_of(0), 10);
  EXPECT_EQ(table.line_of(2), 10);
  EXPECT_EQ(table.line_of(3), 12);
  EXPECT_EQ(table.line_of(42), 12);
  EXPECT_EQ(table.line_of(43), 11);
  EXPECT_EQ(table.line_of(60000), 11);
}

TEST(LineTable, ReadsNumbersThatExcludeZeroBytes) {
  const std::string bytes{static_cast<char>(0xff), 0x01, 0x15, 0x1a, 0x00};
  const LineTable table(bytes, true);

  EXPECT_EQ(table.line_of(0), 10);
  EXPECT_EQ(table.line_of(3), 12);
}

TEST(LineTable, ReadsLongNumbers) {
  // 2 x 1000 = 2000: 208 + (28 << 6) = 2000.
  const std::string bytes{static_cast<char>(0xff), 0x00, static_cast<char>(208), 28, 0x00};

  EXPECT_EQ(LineTable(bytes, false).line_of(0), 1000);
}

TEST(LineTable, KnowsNothingWhereNothingSaneIs) {
  EXPECT_EQ(LineTable().line_of(0), 0);
  EXPECT_EQ(LineTable(std::string(1, '\0'), false).line_of(7), 0);
  // A line of many millions, and a bytecode before the first.
  const std::string wild{static_cast<char>(0xff),
                         0x00,
                         static_cast<char>(0xfe),
                         static_cast<char>(0xfe),
                         static_cast<char>(0xfe),
                         0x7f,
                         0x00};
  EXPECT_EQ(LineTable(wild, false).line_of(0), 0);
  const std::string backwards{static_cast<char>(0xff), 0x01, 0x14, 0x00};
  EXPECT_EQ(LineTable(backwards, false).line_of(0), 0);
}

TEST(LineTable, TakesAnyBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    const LineTable table(bytes, round % 2 == 0);
    const std::int32_t line = table.line_of(random() % 0x10000);
    EXPECT_GE(line, 0);
    EXPECT_LE(line, 0xffff);
  }
}

} // namespace
} // namespace jprof::record
