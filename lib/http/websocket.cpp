// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/websocket.h"

#include "lib/base/encoding.h"
#include "lib/base/random.h"
#include "lib/base/unique_resource.h"
#include "lib/http/websocket_handshake.h"

#include <wslay/wslay.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <poll.h>
#include <span>
#include <utility>

namespace jprof::http {
namespace {

using base::ErrorCode;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxPerPump = 256 * 1024;

struct WslayTraits {
  using Handle = wslay_event_context_ptr;
  static Handle invalid() { return nullptr; }
  static void close(Handle handle) { wslay_event_context_free(handle); }
};

class WslayWebSocket final : public WebSocket {
 public:
  WslayWebSocket(std::unique_ptr<RawConnection> connection, std::string protocol, std::string first)
      : connection_(std::move(connection)), protocol_(std::move(protocol)),
        first_(std::move(first)) {}

  Status start(std::size_t largest_message_bytes);

  const std::string& protocol() const override { return protocol_; }
  int socket() const override { return connection_->socket(); }
  Status queue(Kind kind, std::string_view payload) override;
  Status queue_ping() override { return queue_frame(WSLAY_PING, {}); }
  Status queue_close(std::uint16_t code) override;
  Status pump() override;
  bool wants_write() const override { return wslay_event_want_write(context_.get()) != 0; }
  bool has_more() const override {
    return wslay_event_get_read_enabled(context_.get()) != 0 &&
           (budget_ == 0 || first_at_ < first_.size());
  }
  std::optional<Message> take() override;
  bool close_received() const override {
    return wslay_event_get_close_received(context_.get()) != 0;
  }
  std::uint16_t close_code() const override { return close_code_; }
  const std::string& close_reason() const override { return close_reason_; }
  Clock::time_point last_heard() const override { return last_heard_; }

 private:
  static WslayWebSocket& self(void* user) { return *static_cast<WslayWebSocket*>(user); }
  ssize_t on_receive(std::span<std::byte> out);
  ssize_t on_send(std::span<const std::byte> bytes);
  void on_message(const wslay_event_on_msg_recv_arg& message);
  ssize_t failed(base::Error error);
  Status queue_frame(std::uint8_t opcode, std::string_view payload);
  Status status_of(int wslay_code, const char* doing);

  std::unique_ptr<RawConnection> connection_;
  std::string protocol_;
  std::string first_; // arrived together with the answer to the upgrade
  std::size_t first_at_ = 0;
  base::UniqueResource<WslayTraits> context_;
  std::size_t budget_ = kMaxPerPump; // bytes that this pump() may still read
  std::deque<Message> received_;
  std::optional<base::Error> error_; // of the connection, final
  std::uint16_t close_code_ = WSLAY_CODE_NO_STATUS_RCVD;
  std::string close_reason_;
  Clock::time_point last_heard_ = Clock::now();
};

Status WslayWebSocket::start(std::size_t largest_message_bytes) {
  wslay_event_callbacks callbacks{};
  callbacks.recv_callback = [](wslay_event_context_ptr context, std::uint8_t* buffer,
                               std::size_t length, int, void* user) {
    const ssize_t got = self(user).on_receive({reinterpret_cast<std::byte*>(buffer), length});
    if (got < 0) {
      wslay_event_set_error(context,
                            self(user).error_ ? WSLAY_ERR_CALLBACK_FAILURE : WSLAY_ERR_WOULDBLOCK);
    }
    return got;
  };
  callbacks.send_callback = [](wslay_event_context_ptr context, const std::uint8_t* data,
                               std::size_t length, int, void* user) {
    const ssize_t sent = self(user).on_send({reinterpret_cast<const std::byte*>(data), length});
    if (sent < 0) {
      wslay_event_set_error(context,
                            self(user).error_ ? WSLAY_ERR_CALLBACK_FAILURE : WSLAY_ERR_WOULDBLOCK);
    }
    return sent;
  };
  callbacks.genmask_callback = [](wslay_event_context_ptr, std::uint8_t* buffer, std::size_t length,
                                  void*) {
    return base::random_bytes({reinterpret_cast<std::byte*>(buffer), length}) ? 0 : -1;
  };
  callbacks.on_msg_recv_callback = [](wslay_event_context_ptr,
                                      const wslay_event_on_msg_recv_arg* message,
                                      void* user) { self(user).on_message(*message); };
  wslay_event_context_ptr context = nullptr;
  if (wslay_event_context_client_init(&context, &callbacks, this) != 0) {
    return base::make_failure(ErrorCode::kInternal, "no memory for a WebSocket");
  }
  context_.reset(context);
  wslay_event_config_set_max_recv_msg_length(context, largest_message_bytes);
  return {};
}

ssize_t WslayWebSocket::failed(base::Error error) {
  error_ = std::move(error);
  return -1;
}

ssize_t WslayWebSocket::on_receive(std::span<std::byte> out) {
  out = out.first(std::min(out.size(), budget_));
  if (out.empty()) {
    return -1;
  }
  if (first_at_ < first_.size()) {
    const std::size_t count = std::min(out.size(), first_.size() - first_at_);
    std::memcpy(out.data(), first_.data() + first_at_, count);
    first_at_ += count;
    return static_cast<ssize_t>(count);
  }
  Result<RawConnection::Received> got = connection_->receive(out);
  if (!got) {
    return failed(std::move(got).error());
  }
  if (got->bytes == 0) {
    return got->state == RawConnection::Received::State::kOpen
               ? -1
               : failed(base::make_error(ErrorCode::kUnavailable, "the connection was closed"));
  }
  last_heard_ = Clock::now();
  budget_ -= got->bytes;
  return static_cast<ssize_t>(got->bytes);
}

ssize_t WslayWebSocket::on_send(std::span<const std::byte> bytes) {
  Result<std::size_t> sent = connection_->send(bytes);
  if (!sent) {
    return failed(std::move(sent).error());
  }
  return *sent == 0 ? -1 : static_cast<ssize_t>(*sent);
}

void WslayWebSocket::on_message(const wslay_event_on_msg_recv_arg& message) {
  const std::string_view payload(reinterpret_cast<const char*>(message.msg), message.msg_length);
  switch (message.opcode) {
  case WSLAY_TEXT_FRAME:
    received_.push_back({Kind::kText, std::string(payload)});
    break;
  case WSLAY_BINARY_FRAME:
    received_.push_back({Kind::kBinary, std::string(payload)});
    break;
  case WSLAY_CONNECTION_CLOSE:
    if (message.status_code != 0) {
      close_code_ = message.status_code;
    }
    // The payload begins with the two bytes of the code.
    close_reason_ = payload.size() > 2 ? payload.substr(2) : std::string_view();
    break;
  default:
    break; // ping is answered by wslay, pong counts as heard
  }
}

Status WslayWebSocket::queue_frame(std::uint8_t opcode, std::string_view payload) {
  const wslay_event_msg message{opcode, reinterpret_cast<const std::uint8_t*>(payload.data()),
                                payload.size()};
  return status_of(wslay_event_queue_msg(context_.get(), &message), "queue a message");
}

Status WslayWebSocket::queue(Kind kind, std::string_view payload) {
  return queue_frame(kind == Kind::kText ? WSLAY_TEXT_FRAME : WSLAY_BINARY_FRAME, payload);
}

Status WslayWebSocket::queue_close(std::uint16_t code) {
  return status_of(wslay_event_queue_close(context_.get(), code, nullptr, 0), "queue a close");
}

Status WslayWebSocket::status_of(int wslay_code, const char* doing) {
  if (error_) {
    return base::fail(*error_);
  }
  switch (wslay_code) {
  case 0:
    return {};
  // No callback failed, or error_ would be set: this is how wslay reports a frame that broke the
  // rules.
  case WSLAY_ERR_CALLBACK_FAILURE:
  case WSLAY_ERR_PROTO:
    return base::make_failure(ErrorCode::kProtocol, "the server broke the WebSocket protocol");
  case WSLAY_ERR_NO_MORE_MSG:
    return base::make_failure(ErrorCode::kUnavailable, "the connection is closing");
  default:
    return base::make_failure(ErrorCode::kProtocol, std::string("cannot ") + doing + " (wslay " +
                                                        std::to_string(wslay_code) + ")");
  }
}

Status WslayWebSocket::pump() {
  budget_ = kMaxPerPump;
  JPROF_TRY(status_of(wslay_event_send(context_.get()), "send"));
  JPROF_TRY(status_of(wslay_event_recv(context_.get()), "receive"));
  // Pongs and the answer to a close frame are due at once.
  JPROF_TRY(status_of(wslay_event_send(context_.get()), "send"));
  // wslay stops reading, and queues a close frame of its own, when it met a forbidden frame.
  if (wslay_event_get_read_enabled(context_.get()) == 0 && !close_received()) {
    return base::make_failure(
        ErrorCode::kProtocol,
        "the server broke the WebSocket protocol, or sent too long a message");
  }
  return {};
}

std::optional<WebSocket::Message> WslayWebSocket::take() {
  if (received_.empty()) {
    return std::nullopt;
  }
  Message message = std::move(received_.front());
  received_.pop_front();
  return message;
}

// Waits until `events` are possible; kTimeout and kInterrupted otherwise.
Status wait_for(const RawConnection& connection, short events, int wake_fd,
                Clock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return base::make_failure(ErrorCode::kTimeout, "the server did not answer in time");
    }
    std::array<pollfd, 2> wanted{pollfd{connection.socket(), events, 0},
                                 pollfd{wake_fd, POLLIN, 0}};
    const int ready = ::poll(wanted.data(), wake_fd < 0 ? 1 : 2, static_cast<int>(left) + 1);
    if (ready < 0 && errno != EINTR) {
      return base::errno_failure(errno, "cannot wait for the server");
    }
    if (ready > 0 && wake_fd >= 0 && wanted[1].revents != 0) {
      return base::make_failure(ErrorCode::kInterrupted, "interrupted");
    }
    if (ready > 0) {
      return {};
    }
  }
}

Status send_all(RawConnection& connection, std::string_view text, int wake_fd,
                Clock::time_point deadline) {
  while (!text.empty()) {
    JPROF_TRY_ASSIGN(const std::size_t sent,
                     connection.send(std::as_bytes(std::span(text.data(), text.size()))));
    text.remove_prefix(sent);
    if (!text.empty()) {
      JPROF_TRY(wait_for(connection, POLLOUT, wake_fd, deadline));
    }
  }
  return {};
}

Status read_response(RawConnection& connection, ResponseReader& reader, int wake_fd,
                     Clock::time_point deadline) {
  std::array<std::byte, 16 * 1024> buffer{};
  while (!reader.complete()) {
    JPROF_TRY_ASSIGN(const RawConnection::Received got, connection.receive(buffer));
    const bool ended = got.state == RawConnection::Received::State::kEnded;
    JPROF_TRY(reader.feed({reinterpret_cast<const char*>(buffer.data()), got.bytes}, ended));
    if (got.bytes == 0 && !reader.complete()) {
      JPROF_TRY(wait_for(connection, POLLIN, wake_fd, deadline));
    }
  }
  return {};
}

} // namespace

Result<WebSocketOpening> open_websocket(std::unique_ptr<RawConnection> connection,
                                        const WebSocketRequest& request) {
  std::array<std::byte, 16> nonce{};
  JPROF_TRY(base::random_bytes(nonce));
  const std::string key =
      base::base64_encode({reinterpret_cast<const char*>(nonce.data()), nonce.size()});
  JPROF_TRY_ASSIGN(const std::string text,
                   make_upgrade_request(request.url, request.headers, request.protocols, key));
  const auto deadline = Clock::now() + request.timeout;
  JPROF_TRY(send_all(*connection, text, request.wake_fd, deadline));
  ResponseReader reader;
  JPROF_TRY(read_response(*connection, reader, request.wake_fd, deadline));
  std::string first(reader.rest());
  HttpResponse response = reader.take();
  if (response.status != 101) {
    return WebSocketOpening{nullptr, std::move(response)};
  }
  JPROF_TRY_ASSIGN(std::string protocol, check_upgrade(response, key, request.protocols));
  auto socket = std::make_unique<WslayWebSocket>(std::move(connection), std::move(protocol),
                                                 std::move(first));
  JPROF_TRY(socket->start(request.largest_message_bytes));
  return WebSocketOpening{std::move(socket), {}};
}

} // namespace jprof::http
