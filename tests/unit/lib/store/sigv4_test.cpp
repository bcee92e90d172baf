// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/store/sigv4.h"

#include <gtest/gtest.h>

namespace jprof::store {
namespace {

// The examples of "Signature Calculations for the Authorization Header" and "Authenticating
// Requests: Using Query Parameters" in the Amazon S3 API Reference: these keys, this time, this
// bucket.
const AwsKeys kKeys{
    "AKIAIOSFODNN7EXAMPLE", base::Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), {}};
const SigV4Scope kScope{"us-east-1", "s3"};
constexpr SystemSeconds kTime = std::chrono::sys_days(std::chrono::year(2013) / 5 / 24);

SignableRequest example(const std::string& method, const std::string& target) {
  return {method,
          http::parse_url("https://examplebucket.s3.amazonaws.com" + target).value(),
          {},
          base::sha256_hex("")};
}

std::string signature_of(const std::vector<http::Header>& headers) {
  const std::string value(http::find_header(headers, "Authorization"));
  const auto at = value.find("Signature=");
  return at == std::string::npos ? value : value.substr(at + 10);
}

TEST(SigV4, SignsTheDocumentedGetObject) {
  SignableRequest request = example("GET", "/test.txt");
  request.headers = {{"Range", "bytes=0-9"}};

  const auto headers = sign_sigv4(request, kKeys, kScope, kTime);

  EXPECT_EQ(http::find_header(headers, "Authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(http::find_header(headers, "x-amz-date"), "20130524T000000Z");
}

TEST(SigV4, SignsTheDocumentedPutObject) {
  SignableRequest request = example("PUT", "/test%24file.text");
  request.headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                     {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
  request.payload_sha256 = base::sha256_hex("Welcome to Amazon S3.");

  EXPECT_EQ(signature_of(sign_sigv4(request, kKeys, kScope, kTime)),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(SigV4, SignsAQueryWithoutAValue) {
  EXPECT_EQ(signature_of(sign_sigv4(example("GET", "/?lifecycle"), kKeys, kScope, kTime)),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(SigV4, SignsTheDocumentedListObjectsWhateverTheOrderOfTheQuery) {
  const std::string expected = "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7";

  for (const char* target : {"/?max-keys=2&prefix=J", "/?prefix=J&max-keys=2"}) {
    EXPECT_EQ(signature_of(sign_sigv4(example("GET", target), kKeys, kScope, kTime)), expected);
  }
}

TEST(SigV4, PresignsTheDocumentedGetObject) {
  const http::Url url =
      presign_sigv4(example("GET", "/test.txt"), kKeys, kScope, kTime, std::chrono::hours(24));

  EXPECT_EQ(url.query,
            "X-Amz-Algorithm=AWS4-HMAC-SHA256"
            "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
            "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
            "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST(SigV4, SendsAndSignsASessionToken) {
  AwsKeys keys = kKeys;
  keys.session_token = base::Secret("token/with+signs=");

  const auto headers = sign_sigv4(example("GET", "/"), keys, kScope, kTime);

  EXPECT_EQ(http::find_header(headers, "x-amz-security-token"), "token/with+signs=");
  EXPECT_NE(http::find_header(headers, "Authorization").find(";x-amz-security-token,"),
            std::string_view::npos);
}

} // namespace
} // namespace jprof::store
