// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/quantity.h"

#include <gtest/gtest.h>

namespace jprof::kube {
namespace {

TEST(Quantity, ReadsWhatKubernetesWrites) {
  EXPECT_EQ(parse_bytes("33Mi"), 34603008U);
  EXPECT_EQ(parse_bytes("128974848"), 128974848U);
  EXPECT_EQ(parse_bytes("129e6"), 129000000U);
  EXPECT_EQ(parse_bytes("129M"), 129000000U);
  EXPECT_EQ(parse_bytes("1.5Gi"), 1610612736U);
  EXPECT_EQ(parse_bytes("1Ki"), 1024U);
  EXPECT_EQ(parse_bytes("7k"), 7000U);
  EXPECT_EQ(parse_bytes("1500m"), 1U);
  EXPECT_EQ(parse_bytes("4E"), 4000000000000000000U);
  EXPECT_EQ(parse_bytes("0"), 0U);
}

TEST(Quantity, RefusesAnythingElse) {
  for (const char* text :
       {"", "Mi", "-1", " 1", "1 Mi", "1mi", "0x10", "inf", "nan", "8Ei", "1e400", "1MiB"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_bytes(std::string(65, '1')), std::nullopt);
}

} // namespace
} // namespace jprof::kube
