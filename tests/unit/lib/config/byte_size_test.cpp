// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/byte_size.h"

#include <gtest/gtest.h>

namespace jprof::config {
namespace {

TEST(ByteSize, TakesBinaryUnits) {
  EXPECT_EQ(*parse_byte_size("512B"), 512U);
  EXPECT_EQ(*parse_byte_size("64KiB"), 65536U);
  EXPECT_EQ(*parse_byte_size("200Mi"), 200U << 20);
  EXPECT_EQ(*parse_byte_size("2GiB"), std::uint64_t{2} << 30);
}

TEST(ByteSize, RefusesWhatIsAmbiguousOrTooLarge) {
  for (const char* text : {"", "200", "200MB", "-1B", "1.5GiB", "99999999TiB", "MiB", "1 MiB"}) {
    EXPECT_FALSE(parse_byte_size(text)) << text;
  }
}

TEST(ByteSize, WritesTheLargestExactUnit) {
  EXPECT_EQ(format_byte_size(200 << 20), "200MiB");
  EXPECT_EQ(format_byte_size(1025), "1025B");
  EXPECT_EQ(format_byte_size(0), "0B");
}

} // namespace
} // namespace jprof::config
