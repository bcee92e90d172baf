// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/protocol/hello.h"

#include <gtest/gtest.h>

namespace jprof::protocol {
namespace {

TEST(Hello, ComesBackAsSent) {
  const auto hello = parse_hello(encode_hello(our_hello({"record", "fetch"})));

  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->protocol, 1);
  EXPECT_EQ(hello->min, 1);
  EXPECT_EQ(hello->version, JPROF_VERSION);
  EXPECT_EQ(hello->features, (std::vector<std::string>{"record", "fetch"}));
}

TEST(Hello, IgnoresMembersOfANewerPeer) {
  EXPECT_TRUE(parse_hello(R"({"protocol":9,"min":1,"codec":{"zstd":true},"features":[1,"x"]})"));
}

TEST(Hello, RefusesARangeThatIsNone) {
  EXPECT_FALSE(parse_hello("{}"));
  EXPECT_FALSE(parse_hello(R"({"protocol":"1"})"));
  EXPECT_FALSE(parse_hello(R"({"protocol":1,"min":2})"));
  EXPECT_FALSE(parse_hello(R"({"protocol":99999999999999})"));
  EXPECT_FALSE(parse_hello("not json"));
}

TEST(ChooseProtocol, TakesTheNewestThatBothSpeak) {
  EXPECT_EQ(*choose_protocol({3, 1, "b", {}}, {2, 1, "a", {}}), 2);
  EXPECT_EQ(*choose_protocol({1, 1, "a", {}}, {3, 1, "b", {}}), 1);
}

TEST(ChooseProtocol, SaysWhomToUpgrade) {
  const auto we_are_old = choose_protocol({1, 1, "0.1", {}}, {5, 3, "9.0", {}});
  const auto they_are_old = choose_protocol({5, 3, "9.0", {}}, {1, 1, "0.1", {}});

  ASSERT_FALSE(we_are_old);
  ASSERT_FALSE(they_are_old);
  EXPECT_EQ(we_are_old.error().cure, "upgrade this jprof");
  EXPECT_EQ(they_are_old.error().cure, "upgrade jprof on the other side");
}

} // namespace
} // namespace jprof::protocol
