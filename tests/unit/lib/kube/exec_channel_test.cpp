// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/exec_channel.h"

#include <gtest/gtest.h>

namespace jprof::kube {
namespace {

using base::ErrorCode;

TEST(ExecChannel, PutsTheChannelInFront) {
  EXPECT_EQ(encode_channel(Channel::kStdin, "ab"), std::string("\0ab", 3));

  const auto message = decode_channel(std::string_view("\1out", 4));

  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->channel, Channel::kStdout);
  EXPECT_EQ(message->payload, "out");
}

TEST(ExecChannel, AcceptsTheEmptyMessagesThatOpenStreams) {
  EXPECT_TRUE(decode_channel(std::string_view("\0", 1)).has_value());
  EXPECT_TRUE(decode_channel(std::string_view("\4", 1)).has_value());
}

TEST(ExecChannel, RefusesChannelsThatAServerNeverSends) {
  EXPECT_EQ(decode_channel("").error().code, ErrorCode::kProtocol);
  EXPECT_EQ(decode_channel(std::string_view("\0x", 2)).error().code, ErrorCode::kProtocol);
  EXPECT_EQ(decode_channel("\x07x").error().code, ErrorCode::kProtocol);
}

TEST(ExecChannel, ReadsTheExitCode) {
  EXPECT_EQ(*parse_exit(R"({"metadata":{},"status":"Success"})"), 0);
  EXPECT_EQ(
      *parse_exit(
          R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"137"}]}})"),
      137);
}

TEST(ExecChannel, DoesNotTakeAnUnreadableExitCodeForSuccess) {
  for (const char* message : {"", "0", "-1", "1x", "99999999999"}) {
    const std::string text =
        R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":")" +
        std::string(message) + "\"}]}}";
    EXPECT_EQ(parse_exit(text).error().code, ErrorCode::kProtocol) << message;
  }
}

TEST(ExecChannel, TellsAMissingProgramFromABrokenRuntime) {
  const auto missing = parse_exit(
      R"({"status":"Failure","message":"error executing command in container: exec: \"/jprof\": stat /jprof: no such file or directory: unknown","reason":"InternalError","code":500})");
  const auto broken =
      parse_exit(R"({"status":"Failure","message":"connection refused","reason":"InternalError"})");

  EXPECT_EQ(missing.error().code, ErrorCode::kNoSidecar);
  EXPECT_EQ(broken.error().code, ErrorCode::kUnavailable);
}

} // namespace
} // namespace jprof::kube
