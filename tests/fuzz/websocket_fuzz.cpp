// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/websocket.h"
#include "lib/http/websocket_handshake.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

using namespace jprof;

// A server whose bytes are the input: first an upgrade that is in order, then anything, in pieces
// whose sizes the input chooses as well.
class FuzzConnection final : public http::RawConnection {
 public:
  FuzzConnection(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  http::Result<std::size_t> send(std::span<const std::byte> bytes) override {
    if (answer_.empty()) {
      const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      const std::size_t at = text.find("Sec-WebSocket-Key: ");
      if (at != std::string::npos) {
        answer_ = "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  "Sec-WebSocket-Accept: " +
                  http::websocket_accept(text.substr(at + 19, 24)) + "\r\n\r\n";
      }
    }
    return bytes.size();
  }
  http::Result<Received> receive(std::span<std::byte> out) override {
    if (answered_ < answer_.size()) {
      const std::size_t count = std::min(out.size(), answer_.size() - answered_);
      std::memcpy(out.data(), answer_.data() + answered_, count);
      answered_ += count;
      return Received{count, Received::State::kOpen};
    }
    if (at_ == size_) {
      return Received{0, Received::State::kEnded};
    }
    const std::size_t wish = data_[at_] % 7 == 0 ? 1 : size_ - at_;
    const std::size_t count = std::min({out.size(), size_ - at_, wish});
    std::memcpy(out.data(), data_ + at_, count);
    at_ += count;
    return Received{count, Received::State::kOpen};
  }
  int socket() const override { return -1; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
  std::string answer_;
  std::size_t answered_ = 0;
};

} // namespace

// Frames as a hostile server may send them, and answers to the upgrade.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  http::ResponseReader reader;
  if (reader.feed(text.substr(0, size / 2), false) && reader.feed(text.substr(size / 2), true) &&
      reader.complete()) {
    static_cast<void>(http::check_upgrade(reader.take(), "key", {"v5"}));
  }
  http::WebSocketRequest request;
  request.url.scheme = "https";
  request.url.host = "k";
  request.largest_message_bytes = 4096;
  auto opening = http::open_websocket(std::make_unique<FuzzConnection>(data, size), request);
  if (!opening || !opening->socket) {
    __builtin_trap(); // the upgrade is always in order
  }
  while (opening->socket->pump()) {
    while (const auto message = opening->socket->take()) {
      if (message->payload.size() > 4096) {
        __builtin_trap();
      }
    }
    if (opening->socket->close_received()) {
      break;
    }
  }
  return 0;
}
