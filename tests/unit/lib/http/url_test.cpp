// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/url.h"

#include <gtest/gtest.h>

namespace jprof::http {
namespace {

TEST(Url, KeepsPathAndQueryByteForByte) {
  const auto url = parse_url("https://S3.Example.COM:8443/b/a%2Fb%3d//../c?uploads&x=%20y");

  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "s3.example.com");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->path, "/b/a%2Fb%3d//../c");
  EXPECT_EQ(url->query, "uploads&x=%20y");
  EXPECT_EQ(url->to_string(), "https://s3.example.com:8443/b/a%2Fb%3d//../c?uploads&x=%20y");
}

TEST(Url, LeavesOutTheSchemesOwnPort) {
  EXPECT_EQ(parse_url("https://h:443/")->authority(), "h");
  EXPECT_EQ(parse_url("http://h:443/")->authority(), "h:443");
  EXPECT_EQ(parse_url("http://h")->effective_port(), 80);
  EXPECT_EQ(parse_url("http://h")->path, "/");
  EXPECT_EQ(parse_url("http://h?a=b")->to_string(), "http://h/?a=b");
}

TEST(Url, PutsAnIpv6AddressBackIntoBrackets) {
  const auto url = parse_url("https://[FD00::1]:6443/api");

  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(url->host, "fd00::1");
  EXPECT_EQ(url->authority(), "[fd00::1]:6443");
}

TEST(Url, DisplaysNoQuery) {
  EXPECT_EQ(parse_url("https://h/k?X-Amz-Signature=abc")->display(), "https://h/k");
}

class RefusedUrl : public ::testing::TestWithParam<const char*> {};

TEST_P(RefusedUrl, IsAUsageErrorThatDoesNotRepeatIt) {
  const auto url = parse_url(GetParam());

  ASSERT_FALSE(url.has_value());
  EXPECT_EQ(url.error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(url.error().text().find("hunter2"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Forms, RefusedUrl,
                         ::testing::Values("", "host/path", "ftp://h/", "file:///etc/passwd",
                                           "https://", "https:///path", "https://user:hunter2@h/",
                                           "https://h:0/", "https://h:65536/", "https://h:/",
                                           "https://h:80x/", "https://h/#f", "https://h/a b",
                                           "https://h/a\r\nX: y", "https://h/\xc3\xa4",
                                           "https://[::1/", "https://[::1]x/", "https://[]/",
                                           "https://[fe80::1%25eth0]/", "https://-h/",
                                           "https://h\\evil/", "https://a,b/"));

} // namespace
} // namespace jprof::http
