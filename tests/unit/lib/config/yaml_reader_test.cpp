// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/yaml_reader.h"

#include <gtest/gtest.h>

namespace jprof::config {
namespace {

using Kind = YamlNode::Kind;

TEST(YamlReader, KeepsTheLineOfEachValue) {
  const auto root = parse_yaml("a: 1\nb:\n  - x\n  - y: z\n", "f");

  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->string_at("a"), "1");
  const YamlNode* list = root->find("b");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_EQ(list->items[0].line, 3);
  EXPECT_EQ(list->items[1].members.at(0).line, 4);
}

TEST(YamlReader, TellsPlainFromQuotedScalars) {
  const auto root = parse_yaml("a: true\nb: 'true'\nc: ~\nd: \"\"\n", "f");

  ASSERT_TRUE(root.has_value());
  EXPECT_TRUE(root->bool_at("a"));
  EXPECT_FALSE(root->bool_at("b"));
  EXPECT_EQ(root->find("c")->kind, Kind::kNull);
  EXPECT_EQ(root->find("d")->kind, Kind::kScalar);
}

TEST(YamlReader, ReadsJson) {
  const auto root = parse_yaml(R"({"a": {"b": ["c", null, "\u0064"]}})", "f");

  ASSERT_TRUE(root.has_value());
  const auto& items = root->find("a")->find("b")->items;
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[2].text, "d");
}

TEST(YamlReader, TakesTheLastOfTwoEqualKeysAndKeepsBoth) {
  const auto root = parse_yaml("a: 1\na: 2\n", "f");

  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->string_at("a"), "2");
  EXPECT_EQ(root->members.size(), 2U);
}

TEST(YamlReader, ExpandsAnchorsAndMergeKeys) {
  const auto root = parse_yaml("base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  y: 3\n", "f");

  ASSERT_TRUE(root.has_value());
  const YamlNode* more = root->find("more");
  EXPECT_EQ(more->string_at("x"), "1");
  EXPECT_EQ(more->string_at("y"), "3");
  EXPECT_EQ(more->find("<<"), nullptr);
}

TEST(YamlReader, StopsAtABombOfAliases) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string old = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + old;
    for (int k = 0; k < 9; ++k) {
      text += ", " + old;
    }
    text += "]\n";
  }

  const auto root = parse_yaml(text, "f");

  ASSERT_FALSE(root.has_value());
  EXPECT_EQ(root.error().code, base::ErrorCode::kLimit);
}

TEST(YamlReader, RefusesWhatIsTooDeepOrTooLarge) {
  EXPECT_FALSE(parse_yaml(std::string(100, '[') + std::string(100, ']'), "f").has_value());
  EXPECT_FALSE(parse_yaml(std::string(100'000, '['), "f").has_value());
  EXPECT_FALSE(parse_yaml("abcdef", "f", {.bytes = 5}).has_value());
}

TEST(YamlReader, NamesFileAndLineOfAnError) {
  const auto root = parse_yaml("a: 1\nb: [\n", "some.yaml");

  ASSERT_FALSE(root.has_value());
  EXPECT_EQ(root.error().code, base::ErrorCode::kConfigInvalid);
  EXPECT_EQ(root.error().message.rfind("some.yaml line ", 0), 0U) << root.error().message;
}

TEST(YamlReader, TakesAnEmptyDocumentAsNull) {
  const auto root = parse_yaml("# nothing\n", "f");

  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->kind, Kind::kNull);
}

TEST(YamlReader, RefusesAKeyThatIsNoWord) {
  EXPECT_FALSE(parse_yaml("? [a, b]\n: c\n", "f").has_value());
}

} // namespace
} // namespace jprof::config
