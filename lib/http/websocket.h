// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/http/http_client.h"
#include "lib/http/raw_connection.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::http {

class WebSocket;

struct WebSocketRequest {
  Url url;
  std::vector<Header> headers;
  std::vector<std::string> protocols;       // offered, best first
  std::chrono::milliseconds timeout{10000}; // for the answer to the upgrade
  int wake_fd = -1;                         // readable: give up with kInterrupted
  std::size_t largest_message_bytes = std::size_t{4} * 1024 * 1024;
};

// Either an open WebSocket, or what the server answered instead: a refusal is a successful
// exchange, and the caller knows what a 403 means.
struct WebSocketOpening {
  std::unique_ptr<WebSocket> socket;
  HttpResponse refusal;
};

// Sends the upgrade over `connection` and waits for the answer.
Result<WebSocketOpening> open_websocket(std::unique_ptr<RawConnection> connection,
                                        const WebSocketRequest& request);

// The client's end of RFC 6455 (frames by libwslay). Non-blocking: the caller polls socket() for
// POLLIN, and for POLLOUT while wants_write(), and calls pump(). Pings are answered by pump().
// Masks are random. One thread at a time; the destructor closes without a close frame.
class WebSocket {
 public:
  enum class Kind { kText, kBinary };
  struct Message {
    Kind kind = Kind::kBinary;
    std::string payload;
  };

  virtual ~WebSocket() = default;

  virtual const std::string& protocol() const = 0;
  virtual int socket() const = 0;

  // These only queue; pump() sends.
  virtual Status queue(Kind kind, std::string_view payload) = 0;
  virtual Status queue_ping() = 0;
  virtual Status queue_close(std::uint16_t code) = 0;

  // Sends what can be sent and reads what is there. kUnavailable when the connection is gone,
  // kProtocol and kLimit for forbidden frames. Messages already received can still be taken.
  virtual Status pump() = 0;
  virtual bool wants_write() const = 0;
  // Bytes came with the answer to the upgrade, or pump() stopped early so that a peer that never
  // pauses cannot hold it: call it before waiting, since poll() does not see what is here.
  virtual bool has_more() const = 0;
  // The next message, if there is one.
  virtual std::optional<Message> take() = 0;

  // The peer's close frame has come: nothing follows what take() still gives.
  virtual bool close_received() const = 0;
  // Its code, 1005 where it gave none, and its reason (foreign text).
  virtual std::uint16_t close_code() const = 0;
  virtual const std::string& close_reason() const = 0;
  // When anything last arrived.
  virtual std::chrono::steady_clock::time_point last_heard() const = 0;
};

} // namespace jprof::http
