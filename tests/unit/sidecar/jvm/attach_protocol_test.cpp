// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/attach_protocol.h"

#include <gtest/gtest.h>

#include <string>

namespace jprof::jvm {
namespace {

using base::ErrorCode;
using namespace std::string_literals;

TEST(AttachRequest, OfVersion1AlwaysHoldsThreeArguments) {
  EXPECT_EQ(*encode_version_1({"properties", {}}), "1\0properties\0\0\0\0"s);
  EXPECT_EQ(*encode_version_1({"load", {"/l.so", "true", "a=b"}}), "1\0load\0/l.so\0true\0a=b\0"s);
}

TEST(AttachRequest, OfVersion1EndsAt1024Bytes) {
  EXPECT_TRUE(encode_version_1({"jcmd", {std::string(1024, 'x')}}));
  const auto longer = encode_version_1({"jcmd", {std::string(1025, 'x')}});
  const auto more = encode_version_1({"jcmd", {"1", "2", "3", "4"}});

  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, ErrorCode::kLimit);
  ASSERT_FALSE(more);
}

TEST(AttachRequest, OfVersion2TellsItsLength) {
  EXPECT_EQ(*encode_version_2({"jcmd", {"help", ""}}), "2\0"
                                                       "11\0jcmd\0help\0\0"s);
  EXPECT_TRUE(encode_version_2({"jcmd", {std::string(200000, 'x')}}));
  EXPECT_FALSE(encode_version_2({"jcmd", {std::string(256 * 1024, 'x')}}));
}

TEST(AttachRequest, HoldsNoNul) {
  EXPECT_EQ(encode_version_1({"jcmd", {"a\0b"s}}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(encode_version_2({"jc\0md"s, {}}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(encode_version_1({"", {}}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(encode_version_1({std::string(17, 'x'), {}}).error().code, ErrorCode::kUsage);
}

TEST(AttachReply, IsANumberAndText) {
  const auto reply = parse_reply("0\nfirst\nsecond\n");

  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code, 0);
  EXPECT_EQ(reply->text, "first\nsecond\n");
  EXPECT_EQ(parse_reply("-1\nno\n")->code, -1);
  EXPECT_EQ(parse_reply("101\n")->text, "");
}

TEST(AttachReply, IsNotGarbage) {
  EXPECT_EQ(parse_reply("").error().code, ErrorCode::kAttachFailed);
  for (const char* text :
       {"x", "\n", "0", "0x\n", "HTTP/1.1 200 OK\r\n", "99999999999\n", " 0\n"}) {
    const auto reply = parse_reply(text);
    ASSERT_FALSE(reply) << text;
    EXPECT_EQ(reply.error().code, ErrorCode::kProtocol) << text;
  }
}

struct Load {
  int code;
  const char* text;
  int returned; // by Agent_OnAttach; -1000: an error
};

// Answers of JDK 8, 11, 17, 21 and 25 to "load" of the same libraries.
TEST(LoadReply, GivesWhatTheAgentReturned) {
  const Load answers[] = {
      {0, "0\n", 0},                  // 8
      {0, "110\n", 110},              // 8
      {0, "return code: 0\n", 0},     // 9 to 20
      {0, "return code: 110\n", 110}, // 9 to 25
      {-1, "return code: -1\n", -1},
      {0, "return code: 0", 0},
      {-1, "/nope.so was not loaded.\n", -1000}, // 17
      {0, "/nope.so was not loaded.\n", -1000},  // 21 and later: the result is 0
      {0, "/x.so was not loaded.\nreturn code: 0", -1000},
      {-1, "", -1000},
      {100, "", -1000},
  };
  for (const Load& answer : answers) {
    const auto result = interpret_load({answer.code, answer.text});
    if (answer.returned == -1000) {
      ASSERT_FALSE(result) << answer.text;
      EXPECT_EQ(result.error().code, ErrorCode::kAgentFailed);
    } else {
      ASSERT_TRUE(result) << answer.text;
      EXPECT_EQ(*result, answer.returned);
    }
  }
}

TEST(LoadReply, KnowsThatLoadingIsForbidden) {
  const auto result = interpret_load(
      {0,
       "Dynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to launch target "
       "VM.\n"});

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kAgentLoadingDisabled);
  EXPECT_FALSE(result.error().cure.empty());
}

TEST(LoadReply, QuotesTheJvmSafely) {
  const auto result = interpret_load({-1, "\x1b[2J" + std::string(100000, 'x')});

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message.find('\x1b'), std::string::npos);
  EXPECT_LT(result.error().message.size(), 1000U);
}

TEST(Getversion, TellsVersion2) {
  EXPECT_EQ(supported_version({0, "2 streaming"}), 2);
  EXPECT_EQ(supported_version({0, "1\n"}), 1);
  EXPECT_EQ(supported_version({-1, "Operation getversion not recognized!"}), 1);
  EXPECT_EQ(supported_version({0, ""}), 1);
}

} // namespace
} // namespace jprof::jvm
