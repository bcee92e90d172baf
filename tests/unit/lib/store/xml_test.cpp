// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/xml.h"

#include <gtest/gtest.h>

namespace jprof::store {
namespace {

using base::ErrorCode;

TEST(Xml, GivesElementsWithoutTheirNamespace) {
  const auto root = parse_xml("<?xml version=\"1.0\"?>\n"
                              "<s3:List xmlns:s3='http://x' ><s3:Key a='1'>a &amp; b</s3:Key>"
                              "<Key><![CDATA[<c>]]></Key><Empty/></s3:List>");

  ASSERT_TRUE(root.has_value()) << root.error().text();
  EXPECT_EQ(root->name, "List");
  ASSERT_EQ(root->children.size(), 3U);
  EXPECT_EQ(root->child_text("Key"), "a & b");
  EXPECT_EQ(root->children[1].text, "<c>");
  EXPECT_EQ(root->child_text("Empty"), "");
  EXPECT_EQ(root->child("Other"), nullptr);
}

TEST(Xml, RefusesWhatIsNoDocument) {
  for (const char* text : {"", "text", "<a>", "<a></b>", "<a/><b/>", "\xff\xfe", "<a>\x01</a>"}) {
    const auto root = parse_xml(text);

    ASSERT_FALSE(root.has_value()) << text;
    EXPECT_EQ(root.error().code, ErrorCode::kInvalidData);
  }
}

TEST(Xml, RefusesADocumentTypeAndSoEveryEntityBomb) {
  const auto root = parse_xml("<!DOCTYPE a [<!ENTITY x \"y\"><!ENTITY z \"&x;&x;\">]><a>&z;</a>");

  ASSERT_FALSE(root.has_value());
  EXPECT_EQ(root.error().code, ErrorCode::kLimit);
}

TEST(Xml, HoldsItsLimits) {
  std::string deep;
  for (int i = 0; i < 17; ++i) {
    deep += "<a>";
  }
  std::string wide = "<a>";
  for (int i = 0; i < 100; ++i) {
    wide += "<b/>";
  }
  wide += "</a>";

  EXPECT_EQ(parse_xml(deep).error().code, ErrorCode::kLimit);
  EXPECT_TRUE(parse_xml(wide, {.elements = 101}).has_value());
  EXPECT_EQ(parse_xml(wide, {.elements = 100}).error().code, ErrorCode::kLimit);
  EXPECT_EQ(parse_xml(wide, {.bytes = 100}).error().code, ErrorCode::kLimit);
}

} // namespace
} // namespace jprof::store
