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

TEST(DumpJson, ReplacesInvalidUtf8) {
  EXPECT_NE(dump_json(Json("\xff")), "");
}

} // namespace
} // namespace jprof::base
