// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/exec_stream.h"

#include "lib/base/encoding.h"
#include "lib/kube/exec_channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <utility>

namespace jprof::kube {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::uint16_t kNormalClosure = 1000;
constexpr std::uint16_t kNoCode = 1005;
constexpr std::uint16_t kInternalError = 1011;

} // namespace

ExecStream::ExecStream(std::unique_ptr<http::WebSocket> socket)
    : ExecStream(std::move(socket), Timing()) {}

ExecStream::ExecStream(std::unique_ptr<http::WebSocket> socket, Timing timing)
    : socket_(std::move(socket)), timing_(timing), next_ping_(Clock::now() + timing.ping) {}

base::Status ExecStream::write(std::string_view bytes) {
  // The kubelet reads messages whole; small ones keep its memory and ours small.
  constexpr std::size_t kMaxMessageBytes = 32 * 1024;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMaxMessageBytes);
    JPROF_TRY(
        socket_->queue(http::WebSocket::Kind::kBinary, encode_channel(Channel::kStdin, piece)));
    bytes.remove_prefix(piece.size());
  }
  return socket_->pump();
}

base::Error ExecStream::lost() const {
  std::string message = "the connection to the pod ended before the command did";
  if (socket_->close_received() && socket_->close_code() != kNoCode &&
      socket_->close_code() != kNormalClosure) {
    message += " (close code " + std::to_string(socket_->close_code());
    if (socket_->close_code() == kInternalError) {
      message += ", the kubelet or its runtime failed";
    }
    message += ")";
  }
  if (!socket_->close_reason().empty()) {
    message += ": " + base::printable(socket_->close_reason());
  }
  return base::make_error(ErrorCode::kUnavailable, message);
}

Result<std::optional<ExecEvent>> ExecStream::take_event() {
  while (std::optional<http::WebSocket::Message> message = socket_->take()) {
    JPROF_TRY_ASSIGN(const ChannelMessage part, decode_channel(message->payload));
    if (part.payload.empty()) {
      continue; // how a server opens each stream
    }
    ExecEvent event;
    if (part.channel == Channel::kError) {
      event.kind = ExecEvent::Kind::kExit;
      JPROF_TRY_ASSIGN(event.exit_code, parse_exit(part.payload));
      return event;
    }
    if (part.channel == Channel::kStdout || part.channel == Channel::kStderr) {
      event.kind =
          part.channel == Channel::kStdout ? ExecEvent::Kind::kStdout : ExecEvent::Kind::kStderr;
      event.data = part.payload;
      return event;
    }
  }
  return std::nullopt;
}

base::Status ExecStream::keep_alive(Clock::time_point now) {
  if (now - socket_->last_heard() > timing_.silence) {
    return base::make_failure(ErrorCode::kUnavailable,
                              "nothing came from the pod for " +
                                  std::to_string(timing_.silence.count() / 1000) +
                                  " s, not even the answer to a ping",
                              "the network or the node is gone");
  }
  if (now >= next_ping_) {
    next_ping_ = now + timing_.ping;
    return socket_->queue_ping();
  }
  return {};
}

Result<ExecStream::Wait> ExecStream::wait(Clock::time_point until, int wake_fd) {
  auto left =
      std::chrono::ceil<std::chrono::milliseconds>(std::min(until, next_ping_) - Clock::now());
  if (socket_->has_more()) {
    left = std::chrono::milliseconds(0);
  }
  const short events = static_cast<short>(POLLIN | (socket_->wants_write() ? POLLOUT : 0));
  std::array<pollfd, 2> wanted{pollfd{socket_->socket(), events, 0}, pollfd{wake_fd, POLLIN, 0}};
  const int ready =
      ::poll(wanted.data(), wake_fd < 0 ? 1 : 2, std::max(0, static_cast<int>(left.count())));
  if (ready < 0 && errno != EINTR) {
    return base::errno_failure(errno, "cannot wait for the pod");
  }
  return ready > 0 && wake_fd >= 0 && wanted[1].revents != 0 ? Wait::kWoken : Wait::kPump;
}

Result<std::optional<ExecEvent>> ExecStream::next(std::chrono::milliseconds timeout, int wake_fd) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    JPROF_TRY_ASSIGN(std::optional<ExecEvent> event, take_event());
    if (event) {
      return event;
    }
    if (socket_->close_received()) {
      return base::fail(lost());
    }
    JPROF_TRY(keep_alive(Clock::now()));
    JPROF_TRY_ASSIGN(const Wait waited, wait(deadline, wake_fd));
    if (waited == Wait::kWoken) {
      return std::nullopt;
    }
    // What had arrived before the connection broke still counts, so the failure waits its turn.
    const base::Status pumped = socket_->pump();
    JPROF_TRY_ASSIGN(event, take_event());
    if (event) {
      return event;
    }
    if (!pumped) {
      const bool cut = pumped.error().code == ErrorCode::kUnavailable;
      return base::fail(cut ? lost() : pumped.error());
    }
    if (Clock::now() >= deadline && !socket_->has_more()) {
      return std::nullopt;
    }
  }
}

void ExecStream::close() {
  if (socket_->queue_close(kNormalClosure)) {
    static_cast<void>(socket_->pump());
  }
}

} // namespace jprof::kube
