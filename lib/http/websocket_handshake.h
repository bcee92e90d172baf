// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/http/http_client.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The opening handshake of RFC 6455 section 4, as bytes: no I/O.
namespace jprof::http {

// The answer to a key that the server must give (section 4.2.2 item 5.4).
std::string websocket_accept(std::string_view key);

// The GET with which a client asks for an upgrade. `key` is 16 random bytes in base64. kUsage where
// a header or protocol holds what would break the request apart.
Result<std::string> make_upgrade_request(const Url& url, const std::vector<Header>& headers,
                                         const std::vector<std::string>& protocols,
                                         std::string_view key);

// Collects an HTTP/1.1 response from bytes as they come: head, and, unless it is a 101, a body by
// length, in chunks or until the end of the connection. Bounded; one thread at a time.
class ResponseReader {
 public:
  // Takes what arrived; `ended`: the peer has closed. kProtocol for what is no HTTP, kLimit.
  Status feed(std::string_view bytes, bool ended);
  bool complete() const { return complete_; }
  // REQUIRES: complete().
  HttpResponse take() { return std::move(response_); }
  // After a 101: what followed the head, i.e. the first bytes of the new protocol.
  std::string_view rest() const { return std::string_view(buffer_).substr(body_at_); }

 private:
  Status parse_head(std::size_t end);
  Status parse_body(bool ended);
  Status parse_chunks();

  std::string buffer_;
  HttpResponse response_;
  std::size_t body_at_ = 0; // 0: the head is not whole yet
  bool complete_ = false;
};

// Whether a complete 101 answers our request: the chosen protocol (empty if none was asked for), or
// kProtocol.
Result<std::string> check_upgrade(const HttpResponse& response, std::string_view key,
                                  const std::vector<std::string>& protocols);

} // namespace jprof::http
