// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/yaml_text.h"

#include <gtest/gtest.h>

namespace jprof::base {
namespace {

TEST(YamlText, HasBlocksForMapsAndLists) {
  const Json value = {
      {"name", "shop"}, {"list", {1, "two", Json::object({{"a", true}})}}, {"none", nullptr}};

  EXPECT_EQ(to_yaml(value), "name: shop\n"
                            "list:\n"
                            "  - 1\n"
                            "  - two\n"
                            "  -\n"
                            "    a: true\n"
                            "none: null\n");
}

TEST(YamlText, QuotesWhatIsNoPlainWord) {
  EXPECT_EQ(to_yaml("no"), "\"no\"\n");
  EXPECT_EQ(to_yaml("17.0"), "\"17.0\"\n");
  EXPECT_EQ(to_yaml("a: b"), "\"a: b\"\n");
  EXPECT_EQ(to_yaml("- x"), "\"- x\"\n");
  EXPECT_EQ(to_yaml(""), "\"\"\n");
  EXPECT_EQ(to_yaml("line\nline"), "\"line\\nline\"\n");
  EXPECT_EQ(to_yaml(Json({{"#key", 1}})), "\"#key\": 1\n");
}

TEST(YamlText, EscapesWhatATerminalObeysOrWhatHides) {
  EXPECT_EQ(to_yaml(Json({{"a\u009b", "x\u202ey\u00ad"}})), "\"a\\u009b\": \"x\\u202ey\\u00ad\"\n");
}

TEST(YamlText, KeepsEmptyValues) {
  EXPECT_EQ(to_yaml(Json({{"list", Json::array()}, {"map", Json::object()}})),
            "list: []\nmap: {}\n");
}

} // namespace
} // namespace jprof::base
