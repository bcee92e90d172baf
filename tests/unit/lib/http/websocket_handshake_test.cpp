// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/websocket_handshake.h"

#include <gtest/gtest.h>

namespace jprof::http {
namespace {

using base::ErrorCode;

// RFC 6455 section 1.3.
constexpr const char* kKey = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr const char* kAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

std::string upgrade_text(const std::string& more = "") {
  return std::string("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                     "Connection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: ") +
         kAccept + "\r\n" + more + "\r\n";
}

TEST(WebSocketHandshake, ComputesTheAnswerOfTheRfc) {
  EXPECT_EQ(websocket_accept(kKey), kAccept);
}

TEST(WebSocketHandshake, AsksForAnUpgrade) {
  const Url url = *parse_url("https://[::1]:6443/exec?a=b%20c");

  const auto text = make_upgrade_request(url, {{"Authorization", "Bearer t"}}, {"v5", "v4"}, kKey);

  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, "GET /exec?a=b%20c HTTP/1.1\r\nHost: [::1]:6443\r\nConnection: Upgrade\r\n"
                   "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer t\r\n"
                   "Sec-WebSocket-Protocol: v5, v4\r\n\r\n");
}

TEST(WebSocketHandshake, RefusesAHeaderThatWouldBreakTheRequestApart) {
  const Url url = *parse_url("https://k/");

  EXPECT_FALSE(make_upgrade_request(url, {{"A", "b\r\nEvil: 1"}}, {}, kKey).has_value());
  EXPECT_FALSE(make_upgrade_request(url, {}, {"v\n5"}, kKey).has_value());
}

TEST(WebSocketHandshake, AcceptsTheChosenProtocol) {
  ResponseReader reader;
  ASSERT_TRUE(reader.feed(upgrade_text("Sec-WebSocket-Protocol: v4\r\n") + "\x82\x01x", false));

  ASSERT_TRUE(reader.complete());
  EXPECT_EQ(reader.rest(), "\x82\x01x");
  EXPECT_EQ(*check_upgrade(reader.take(), kKey, {"v5", "v4"}), "v4");
}

TEST(WebSocketHandshake, RefusesWhatIsNoAnswerToItsRequest) {
  const auto check = [](const std::string& text, const std::vector<std::string>& protocols) {
    ResponseReader reader;
    EXPECT_TRUE(reader.feed(text, false));
    return check_upgrade(reader.take(), kKey, protocols).has_value();
  };

  EXPECT_TRUE(check(upgrade_text(), {}));
  EXPECT_FALSE(check(upgrade_text(), {"v5"}));
  EXPECT_FALSE(check(upgrade_text("Sec-WebSocket-Protocol: v9\r\n"), {"v5"}));
  EXPECT_FALSE(check(upgrade_text("Sec-WebSocket-Extensions: permessage-deflate\r\n"), {}));
  EXPECT_FALSE(check("HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", {}));
}

TEST(ResponseReader, ReadsABodyByLengthByteByByte) {
  const std::string text = "HTTP/1.1 403 Forbidden\r\nContent-Length: 5\r\n\r\nhello";
  ResponseReader reader;
  for (const char c : text) {
    ASSERT_FALSE(reader.complete());
    ASSERT_TRUE(reader.feed({&c, 1}, false));
  }

  ASSERT_TRUE(reader.complete());
  const HttpResponse response = reader.take();
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(response.body, "hello");
}

TEST(ResponseReader, ReadsABodyInChunks) {
  ResponseReader reader;
  ASSERT_TRUE(
      reader.feed("HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", false));
  EXPECT_FALSE(reader.complete());
  ASSERT_TRUE(reader.feed("2;x=y\r\nde\r\n0\r\n\r\n", false));

  ASSERT_TRUE(reader.complete());
  EXPECT_EQ(reader.take().body, "abcde");
}

TEST(ResponseReader, TakesTheEndOfTheConnectionForTheEndOfABody) {
  ResponseReader reader;
  ASSERT_TRUE(reader.feed("HTTP/1.0 502 Bad Gateway\r\n\r\noops", false));
  EXPECT_FALSE(reader.complete());
  ASSERT_TRUE(reader.feed("", true));

  EXPECT_EQ(reader.take().body, "oops");
}

TEST(ResponseReader, RefusesNonsenseAndEndlessAnswers) {
  EXPECT_EQ(ResponseReader().feed("SSH-2.0-x\r\n\r\n", false).error().code, ErrorCode::kProtocol);
  EXPECT_EQ(ResponseReader().feed("HTTP/1.1 999999\r\n\r\n", false).error().code,
            ErrorCode::kProtocol);
  EXPECT_EQ(ResponseReader().feed("HTTP/1.1 200 OK\r\nbroken\r\n\r\n", false).error().code,
            ErrorCode::kProtocol);
  EXPECT_EQ(
      ResponseReader().feed("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", false).error().code,
      ErrorCode::kProtocol);
  EXPECT_EQ(ResponseReader().feed(std::string(100'000, 'a'), false).error().code,
            ErrorCode::kLimit);
  EXPECT_EQ(ResponseReader().feed("", true).error().code, ErrorCode::kUnavailable);
  ResponseReader endless;
  ASSERT_TRUE(endless.feed("HTTP/1.1 200 OK\r\n\r\n", false));
  EXPECT_EQ(endless.feed(std::string(3'000'000, 'a'), false).error().code, ErrorCode::kLimit);
}

} // namespace
} // namespace jprof::http
