// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/json.h"
#include "lib/render/collapsed_reader.h"
#include "lib/render/folded_diff.h"
#include "lib/render/svg_writer.h"
#include "lib/render/tree_writer.h"

#include <gtest/gtest.h>

namespace {

using namespace jprof;

TEST(FoldedDiff, ShowsWhatGrewAndWhatVanished) {
  const auto diff = render::diff_folded("a;b 100\na;gone 7\n", "a;b 1100\na;new 3\n");

  ASSERT_TRUE(diff.has_value());
  EXPECT_EQ(*diff, "a;b 100 1100\na;gone 7 0\na;new 0 3\n");
}

TEST(FoldedDiff, NormalizesTheBaseAndStripsAddresses) {
  const auto diff = render::diff_folded("f 0x12ab 10\ng 5\n", "f 0xff 20\ng 10\n",
                                        {.normalize = true, .strip_hex = true});

  ASSERT_TRUE(diff.has_value());
  EXPECT_EQ(*diff, "f 0x... 20 20\ng 10 10\n");
}

TEST(FoldedDiff, RefusesTwoTextsWithoutCounts) {
  EXPECT_FALSE(render::diff_folded("x\n", "").has_value());
}

TEST(Svg, LetsNothingOfANameBecomeMarkup) {
  const std::string evil = "]]></script><image href=\"x\" onload='a()'/>&amp;\x01";

  const auto svg =
      render::write_svg("main;" + evil + " 5\n", {.title = evil, .subtitle = evil, .notes = evil});

  ASSERT_TRUE(svg.has_value());
  EXPECT_EQ(svg->find("<image"), std::string::npos);
  EXPECT_EQ(svg->find('\x01'), std::string::npos);
  // Our own script is the only one, and the only CDATA section.
  EXPECT_EQ(svg->find("]]>"), svg->rfind("]]>"));
  EXPECT_EQ(svg->find("<script"), svg->rfind("<script"));
}

TEST(Svg, RefusesOptionsThatMakeNoSense) {
  EXPECT_EQ(render::write_svg("a 1\n", {.colors = "nice"}).error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(render::write_svg("a 1\n", {.background = "url(x)"}).error().code,
            base::ErrorCode::kUsage);
  EXPECT_EQ(render::write_svg("a 1\n", {.width = 0}).error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(render::write_svg("a 1\n", {.width = 20}).error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(render::write_svg("a 1\n", {.factor = 0}).error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(render::write_svg("nothing\n", {}).error().code, base::ErrorCode::kInvalidData);
}

TEST(TreeText, IndentsAndKeepsATerminalSafe) {
  const auto profile = render::read_collapsed("a;b\x1b[31m 3\na 1\n", "t");

  EXPECT_EQ(render::write_tree_text(*profile), "   total      self   samples  frame\n"
                                               " 100.00%     0.00%         0  all\n"
                                               " 100.00%    25.00%         1    a\n"
                                               "  75.00%    75.00%         3      b\\x1b[31m\n");
}

// Leaves of the JSON fold back to the same stacks.
void fold(const base::Json& node, const std::string& path, std::string& out) {
  for (const base::Json& child : node["children"]) {
    const std::string name = (path.empty() ? "" : path + ";") + child["name"].get<std::string>();
    if (child["samples"].get<int>() > 0) {
      out += name + " " + std::to_string(child["samples"].get<int>()) + "\n";
    }
    fold(child, name, out);
  }
}

TEST(TreeJson, FoldsBackToTheSameStacks) {
  const auto profile = render::read_collapsed("a;b;c 5\na;\"q\" 4\na 1\n", "t\"itle");

  const auto json = base::parse_json(render::write_tree_json(*profile));

  ASSERT_TRUE(json.has_value());
  std::string out;
  fold((*json)["tree"], "", out);
  EXPECT_EQ(out, "a 1\na;b;c 5\na;\"q\" 4\n");
  EXPECT_EQ((*json)["title"], "t\"itle");
}

TEST(TreeJson, SurvivesStacksOfAnyDepth) {
  std::string deep;
  for (int i = 0; i < 200'000; ++i) {
    deep += i == 0 ? "f" : ";f";
  }
  const auto profile = render::read_collapsed(deep + " 1\n", "t");

  const std::string json = render::write_tree_json(*profile);

  EXPECT_EQ(std::count(json.begin(), json.end(), '{'), 200'002);
  EXPECT_EQ(std::count(json.begin(), json.end(), '}'), 200'002);
}

} // namespace
