// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/base/unique_fd.h"
#include "lib/http/websocket.h"
#include "lib/http/websocket_handshake.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <thread>

namespace jprof::http {
namespace {

using base::ErrorCode;

// A connection without TLS, one end of a socket pair.
class PlainConnection final : public RawConnection {
 public:
  explicit PlainConnection(base::UniqueFd fd) : fd_(std::move(fd)) {
    ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
  }
  Result<std::size_t> send(std::span<const std::byte> bytes) override {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      return static_cast<std::size_t>(sent);
    }
    if (errno == EAGAIN) {
      return std::size_t{0};
    }
    return base::make_failure(ErrorCode::kUnavailable, "gone");
  }
  Result<Received> receive(std::span<std::byte> out) override {
    const ssize_t got = ::recv(fd_.get(), out.data(), out.size(), 0);
    if (got > 0) {
      return Received{static_cast<std::size_t>(got), Received::State::kOpen};
    }
    if (got == 0) {
      return Received{0, Received::State::kEnded};
    }
    if (errno == EAGAIN) {
      return Received{};
    }
    return base::make_failure(ErrorCode::kUnavailable, "gone");
  }
  int socket() const override { return fd_.get(); }

 private:
  base::UniqueFd fd_;
};

// A client and, for its other end, a test that plays the server.
class WebSocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    server_.reset(ends[1]);
    client_ = std::make_unique<PlainConnection>(base::UniqueFd(ends[0]));
  }

  void say(std::string_view bytes) {
    ASSERT_TRUE(base::write_all(server_.get(), bytes, "server").has_value());
  }
  std::string heard(std::size_t bytes) {
    std::string out(bytes, '\0');
    std::size_t have = 0;
    while (have < bytes) {
      const ssize_t got = ::recv(server_.get(), out.data() + have, bytes - have, 0);
      if (got <= 0) {
        break;
      }
      have += static_cast<std::size_t>(got);
    }
    out.resize(have);
    return out;
  }
  // Reads the request's head and gives its key.
  std::string read_key() {
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
      const std::string one = heard(1);
      if (one.empty()) {
        return {};
      }
      head += one;
    }
    const std::string name = "Sec-WebSocket-Key: ";
    const std::size_t at = head.find(name) + name.size();
    return head.substr(at, head.find("\r\n", at) - at);
  }
  Result<WebSocketOpening> open(const std::string& after_upgrade = "",
                                std::size_t largest = 1024 * 1024) {
    std::jthread server([this, after_upgrade] {
      say("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
          websocket_accept(read_key()) + "\r\nSec-WebSocket-Protocol: v5\r\n\r\n" + after_upgrade);
    });
    WebSocketRequest request;
    request.url = *parse_url("https://k/exec");
    request.protocols = {"v5"};
    request.largest_message_bytes = largest;
    return open_websocket(std::move(client_), request);
  }
  std::unique_ptr<WebSocket> opened(const std::string& after_upgrade = "",
                                    std::size_t largest = 1024 * 1024) {
    auto opening = open(after_upgrade, largest);
    EXPECT_TRUE(opening.has_value());
    return opening ? std::move(opening->socket) : nullptr;
  }

  base::UniqueFd server_;
  std::unique_ptr<PlainConnection> client_;
};

TEST_F(WebSocketTest, TakesAMessageThatCameWithTheUpgrade) {
  const auto socket = opened(std::string("\x82\x03"
                                         "abc"));

  ASSERT_NE(socket, nullptr);
  EXPECT_EQ(socket->protocol(), "v5");
  EXPECT_TRUE(socket->has_more()); // poll() would wait for bytes that are here already
  ASSERT_TRUE(socket->pump());
  EXPECT_FALSE(socket->has_more());
  EXPECT_EQ(socket->take()->payload, "abc");
  EXPECT_FALSE(socket->take().has_value());
}

TEST_F(WebSocketTest, MasksWhatItSends) {
  const auto socket = opened();
  ASSERT_TRUE(socket->queue(WebSocket::Kind::kBinary, "hello"));
  ASSERT_TRUE(socket->pump());

  const std::string frame = heard(11);

  ASSERT_EQ(frame.size(), 11U);
  EXPECT_EQ(static_cast<unsigned char>(frame[0]), 0x82);
  EXPECT_EQ(static_cast<unsigned char>(frame[1]), 0x80 | 5);
  std::string payload = frame.substr(6);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<char>(payload[i] ^ frame[2 + i % 4]);
  }
  EXPECT_EQ(payload, "hello");
}

TEST_F(WebSocketTest, AnswersAPing) {
  const auto socket = opened();
  say(std::string("\x89\x02hi"));
  ASSERT_TRUE(socket->pump());

  EXPECT_EQ(static_cast<unsigned char>(heard(8)[0]), 0x8a);
}

TEST_F(WebSocketTest, JoinsFragments) {
  const auto socket = opened();
  say(std::string("\x02\x02"
                  "ab"
                  "\x89\x00"
                  "\x80\x01"
                  "c",
                  9));
  ASSERT_TRUE(socket->pump());

  EXPECT_EQ(socket->take()->payload, "abc");
}

TEST_F(WebSocketTest, GivesTheCloseCodeAndReason) {
  const auto socket = opened();
  say(std::string("\x88\x05\x03\xf3"
                  "why",
                  7));
  ASSERT_TRUE(socket->pump());

  EXPECT_TRUE(socket->close_received());
  EXPECT_EQ(socket->close_code(), 1011);
  EXPECT_EQ(socket->close_reason(), "why");
}

TEST_F(WebSocketTest, KeepsWhatArrivedBeforeTheConnectionEnded) {
  const auto socket = opened();
  say(std::string("\x82\x01x"));
  server_.reset();

  EXPECT_EQ(socket->pump().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(socket->take()->payload, "x");
}

TEST_F(WebSocketTest, RefusesForbiddenFrames) {
  for (const std::string& frame : {std::string("\xf2\x00", 2),
                                   std::string("\x82\x80"
                                               "1234",
                                               6),
                                   std::string(50, '\xff')}) {
    SetUp();
    const auto socket = opened();
    say(frame);

    const base::Status pumped = socket->pump();

    ASSERT_FALSE(pumped.has_value());
    EXPECT_EQ(pumped.error().code, ErrorCode::kProtocol) << pumped.error().message;
  }
}

TEST_F(WebSocketTest, RefusesAMessageAboveTheLimitBeforeItIsHere) {
  const auto socket = opened("", 1000);
  say(std::string("\x82\x7f\x00\x00\x00\x01\x00\x00\x00\x00x", 11)); // 4 GiB announced

  EXPECT_EQ(socket->pump().error().code, ErrorCode::kProtocol);
}

TEST_F(WebSocketTest, DoesNotLetAServerThatNeverPausesHoldIt) {
  const auto socket = opened();
  std::jthread flood([this] {
    const std::string frame = std::string("\x82\x7e\x40\x00", 4) + std::string(0x4000, 'x');
    while (::send(server_.get(), frame.data(), frame.size(), MSG_NOSIGNAL) > 0) {
    }
  });

  std::size_t messages = 0;
  for (int turn = 0; turn < 20; ++turn) {
    ASSERT_TRUE(socket->pump());
    for (; socket->take(); ++messages) {
    }
  }
  EXPECT_LE(messages, 20U * (256U / 16U + 2U));
  ::shutdown(server_.get(), SHUT_RDWR);
}

TEST_F(WebSocketTest, HandsOverARefusal) {
  std::jthread server([this] {
    read_key();
    say("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
  });
  WebSocketRequest request;
  request.url = *parse_url("https://k/exec");

  const auto opening = open_websocket(std::move(client_), request);

  ASSERT_TRUE(opening.has_value());
  EXPECT_EQ(opening->socket, nullptr);
  EXPECT_EQ(opening->refusal.status, 403);
  EXPECT_EQ(opening->refusal.body, "no");
}

TEST_F(WebSocketTest, GivesUpOnAServerThatDoesNotAnswer) {
  WebSocketRequest request;
  request.url = *parse_url("https://k/exec");
  request.timeout = std::chrono::milliseconds(50);

  EXPECT_EQ(open_websocket(std::move(client_), request).error().code, ErrorCode::kTimeout);
}

TEST_F(WebSocketTest, CanBeWokenWhileItWaits) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const base::UniqueFd read_end(ends[0]);
  const base::UniqueFd write_end(ends[1]);
  ASSERT_EQ(::write(write_end.get(), "x", 1), 1);
  WebSocketRequest request;
  request.url = *parse_url("https://k/exec");
  request.wake_fd = read_end.get();

  EXPECT_EQ(open_websocket(std::move(client_), request).error().code, ErrorCode::kInterrupted);
}

} // namespace
} // namespace jprof::http
