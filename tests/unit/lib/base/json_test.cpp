// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/json.h"

#include <gtest/gtest.h>

namespace jprof::base {
namespace {

TEST(ParseJson, RefusesWhatIsTooLargeTooDeepOrNoJson) {
  EXPECT_EQ(parse_json("{", {}).error().code, ErrorCode::kInvalidData);
  EXPECT_EQ(parse_json("[1,2]", {.bytes = 4}).error().code, ErrorCode::kLimit);
  EXPECT_EQ(parse_json(std::string(100, '[') + std::string(100, ']')).error().code,
            ErrorCode::kLimit);
  EXPECT_TRUE(parse_json(R"({"a":"[[[[\"["})", {.depth = 1}));
}

TEST(JsonMembers, FallBackWhenAbsentOrOfAnotherType) {
  const Json object = *parse_json(R"({"s":"x","n":3,"big":18446744073709551615,"b":true})");

  EXPECT_EQ(json_string(object, "s"), "x");
  EXPECT_EQ(json_string(object, "n", "none"), "none");
  EXPECT_EQ(json_int(object, "n"), 3);
  EXPECT_EQ(json_int(object, "big"), INT64_MAX);
  EXPECT_EQ(json_int(object, "s", -1), -1);
  EXPECT_TRUE(json_bool(object, "b"));
  EXPECT_TRUE(json_object(object, "s").empty());
  EXPECT_TRUE(json_array(Json(5), "s").empty());
}

TEST(DumpJson, EscapesWhatATerminalObeysOrWhatHides) {
  const std::string name =
      "a\u009b31m\u202egpj\u00ad\u2028\u200b\u007f\U000e0041 caf\u00e9 \U0001f600";

  const std::string text = dump_json({{name, Json::array({name, "plain"})}});

  EXPECT_EQ(text.substr(0, text.find(" caf")),
            R"({"a\u009b31m\u202egpj\u00ad\u2028\u200b\u007f\udb40\udc41)");
  EXPECT_NE(text.find("caf\u00e9 \U0001f600"), std::string::npos);
  EXPECT_EQ((*parse_json(text))[name][0], name);
  EXPECT_EQ(dump_json("plain \u00e9"), "\"plain \u00e9\"");
}

TEST(DumpJson, ReplacesInvalidUtf8) {
  EXPECT_NE(dump_json(Json("\xff")), "");
}

} // namespace
} // namespace jprof::base
