// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/s3_error.h"

#include <gtest/gtest.h>

namespace jprof::store {
namespace {

using base::ErrorCode;

http::HttpResponse answer(int status, const std::string& code) {
  return {status,
          {},
          code.empty() ? "" : "<Error><Code>" + code + "</Code><Message>m</Message></Error>"};
}

struct Case {
  int status;
  const char* code;
  ErrorCode expected;
};

TEST(S3Error, GetsACodeForEachAnswer) {
  const Case cases[] = {{403, "AccessDenied", ErrorCode::kForbidden},
                        {403, "SignatureDoesNotMatch", ErrorCode::kUnauthenticated},
                        {403, "", ErrorCode::kForbidden},
                        {401, "", ErrorCode::kUnauthenticated},
                        {404, "NoSuchBucket", ErrorCode::kNotFound},
                        {404, "", ErrorCode::kNotFound},
                        {412, "", ErrorCode::kAlreadyExists},
                        {409, "ConditionalRequestConflict", ErrorCode::kUnavailable},
                        {429, "", ErrorCode::kUnavailable},
                        {500, "", ErrorCode::kUnavailable},
                        {503, "SlowDown", ErrorCode::kUnavailable},
                        {400, "RequestTimeout", ErrorCode::kUnavailable},
                        {400, "BadDigest", ErrorCode::kInvalidData},
                        {400, "", ErrorCode::kProtocol},
                        {302, "", ErrorCode::kProtocol},
                        {200, "InternalError", ErrorCode::kUnavailable}};
  for (const Case& one : cases) {
    const S3Error error = read_s3_error(answer(one.status, one.code));

    EXPECT_EQ(to_error(error, "put x").code, one.expected) << one.status << one.code;
  }
}

TEST(S3Error, MakesTheServersWordsPrintable) {
  const auto error = to_error(
      read_s3_error(
          {400, {}, "<Error><Code>Odd</Code><Message>a\nb\x7f\xe2\x80\xae</Message></Error>"}),
      "put x");

  EXPECT_EQ(error.message.find('\n'), std::string::npos);
  EXPECT_NE(error.message.find("a\\nb"), std::string::npos);
}

TEST(S3Error, TakesTheRegionFromHeaderOrBodyAndOnlyIfItIsOne) {
  http::HttpResponse response = answer(301, "PermanentRedirect");
  response.headers = {{"x-amz-bucket-region", "eu-west-1"}};
  EXPECT_EQ(read_s3_error(response).region, "eu-west-1");

  const http::HttpResponse body{400, {}, "<Error><Region>ap-south-1</Region></Error>"};
  EXPECT_EQ(read_s3_error(body).region, "ap-south-1");

  response.headers = {{"x-amz-bucket-region", "evil.example.com/"}};
  EXPECT_EQ(read_s3_error(response).region, "");
}

TEST(RetryAfter, ReadsSecondsOrADate) {
  const std::chrono::sys_seconds now(std::chrono::seconds(784111777));
  const auto of = [&](const std::string& text) {
    return retry_after({503, {{"Retry-After", text}}, ""}, now);
  };

  EXPECT_EQ(of("20"), std::chrono::seconds(20));
  EXPECT_EQ(of("Sun, 06 Nov 1994 08:50:07 GMT"), std::chrono::seconds(30));
  EXPECT_EQ(of("Sun, 06 Nov 1994 08:00:00 GMT"), std::chrono::seconds(0));
  EXPECT_EQ(of("99999999999999"), std::chrono::seconds(86400));
  EXPECT_EQ(of("Fri, 31 Dec 9999 23:59:59 GMT"), std::chrono::seconds(86400));
  EXPECT_EQ(of("-1"), std::nullopt);
  EXPECT_EQ(of("soon"), std::nullopt);
}

} // namespace
} // namespace jprof::store
