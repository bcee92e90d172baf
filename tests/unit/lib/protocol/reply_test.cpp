// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/protocol/reply.h"

#include <gtest/gtest.h>

namespace jprof::protocol {
namespace {

using namespace std::chrono_literals;

TEST(Progress, ComesBackAsSent) {
  const Progress sent{"id", "recording", 3s, 10s, 300, 2, {{"a.B.c", 1000, 500}, {"d", 1, 0}}};

  const auto got = parse_progress(encode_progress(sent));

  ASSERT_TRUE(got);
  EXPECT_EQ(encode_progress(*got), encode_progress(sent));
  EXPECT_EQ(got->elapsed, 3s);
  EXPECT_EQ(got->hottest[0].self_permille, 500U);
}

TEST(Progress, ClampsWhatAHostileSideSends) {
  const auto got = parse_progress(
      R"({"samples":-4,"hottest":[{"name":7,"selfPermille":99999999999}],"lost":1e300})");

  ASSERT_TRUE(got);
  EXPECT_EQ(got->samples, 0U);
  EXPECT_EQ(got->hottest[0].self_permille, 1000U);
  EXPECT_EQ(got->hottest[0].name, "");
}

TEST(ResultMessage, ComesBackAsSent) {
  ResultMessage sent;
  sent.id = "id";
  sent.exit_code = 6;
  sent.reason = "PartialCapture";
  sent.message = "the JVM ended";
  sent.manifest = {{"kind", "Capture"}};
  sent.files = {{"profile.jprof", 10, 4, base::sha256_hex("x")}};
  sent.captures = base::Json::array({{{"id", "a"}}});

  const auto got = parse_result(encode_result(sent));

  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(encode_result(*got), encode_result(sent));
}

TEST(ResultMessage, RefusesFileNamesThatLeaveTheDirectory) {
  for (const std::string name :
       {"../x", "a/b", "/etc/passwd", "", ".hidden", "..", "a\\n", "a b"}) {
    ResultMessage sent;
    sent.files = {{name, 1, 0, base::sha256_hex("")}};
    EXPECT_FALSE(parse_result(encode_result(sent))) << name;
  }
}

TEST(ResultMessage, RefusesDoubleNamesAndOffsetsBehindTheEnd) {
  ResultMessage twice;
  twice.files = {{"a", 1, 0, base::sha256_hex("")}, {"a", 1, 0, base::sha256_hex("")}};
  ResultMessage behind;
  behind.files = {{"a", 1, 2, base::sha256_hex("")}};
  ResultMessage checksum;
  checksum.files = {{"a", 1, 0, "AB"}};

  EXPECT_FALSE(parse_result(encode_result(twice)));
  EXPECT_FALSE(parse_result(encode_result(behind)));
  EXPECT_FALSE(parse_result(encode_result(checksum)));
}

TEST(ErrorMessage, KeepsCodeCureAndWhoIsInTheWay) {
  const ErrorMessage sent{base::make_error(base::ErrorCode::kBusy, "a capture is running", "wait"),
                          "mine", "bob", "other", "2026-11-21T10:00:00Z"};

  const auto got = parse_error(encode_error(sent));

  ASSERT_TRUE(got);
  EXPECT_EQ(got->error.code, base::ErrorCode::kBusy);
  EXPECT_EQ(got->error.message, "a capture is running");
  EXPECT_EQ(got->error.cure, "wait");
  EXPECT_EQ(got->busy_requester, "bob");
  EXPECT_EQ(got->busy_until, "2026-11-21T10:00:00Z");
}

TEST(ErrorMessage, OfANewerSideIsStillAnError) {
  const auto got = parse_error(R"({"reason":"SomethingNew","exitCode":9})");

  ASSERT_TRUE(got);
  EXPECT_EQ(base::exit_code(got->error.code), 9);
  EXPECT_FALSE(got->error.message.empty());
}

TEST(ErrorMessage, IsABugOnlyWhereTheOtherSideSaysSo) {
  for (const char* const text : {"{}", R"({"message":""})", R"({"reason":7,"exitCode":70})",
                                 R"({"reason":"","exitCode":-1})"}) {
    const auto got = parse_error(text);

    ASSERT_TRUE(got) << text;
    EXPECT_EQ(got->error.code, base::ErrorCode::kProtocol) << text;
    EXPECT_FALSE(got->error.message.empty()) << text;
  }
  EXPECT_EQ(parse_error(R"({"reason":"Internal"})")->error.code, base::ErrorCode::kInternal);
}

} // namespace
} // namespace jprof::protocol
