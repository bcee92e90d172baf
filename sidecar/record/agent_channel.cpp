// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/agent_channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace jprof::record {
namespace {

constexpr char kSocket[] = "the agent's control socket";
constexpr int kMaxSkipped = 64; // messages skipped in one call

bool is_hang_up(int error) {
  return error == EPIPE || error == ECONNRESET || error == ENOTCONN;
}

template <typename Message>
base::Status send_message(int socket, const Message& message) {
  while (::send(socket, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    // A full socket means that the agent reads slowly; a later message replaces this one.
    if (is_hang_up(errno) || errno == EAGAIN) {
      return {};
    }
    if (errno != EINTR) {
      return base::errno_failure(errno, std::string("cannot write to ") + kSocket);
    }
  }
  return {};
}

template <typename Message>
base::Status send_with_descriptor(int socket, Message& message, int fd, int flags) {
  iovec part{&message, sizeof(message)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr packet{};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  packet.msg_control = control.data();
  packet.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&packet);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &fd, sizeof(int));
  while (::sendmsg(socket, &packet, MSG_NOSIGNAL | flags) < 0) {
    if (is_hang_up(errno)) {
      return {};
    }
    if (errno != EINTR) {
      return base::errno_failure(errno, std::string("cannot write to ") + kSocket);
    }
  }
  return {};
}

template <typename Message>
wire::ControlHeader header_of(wire::ControlType type) {
  return {static_cast<std::uint32_t>(type), sizeof(Message)};
}

// False if the packet is shorter than its type requires.
template <typename Message>
bool take(const std::byte* bytes, std::size_t size, AgentMessage& out) {
  if (size < sizeof(Message)) {
    return false;
  }
  Message message;
  std::memcpy(&message, bytes, sizeof(message));
  out = message;
  return true;
}

enum class Taken { kMessage, kSkipped, kBad };

Taken take_packet(const std::byte* bytes, std::size_t size, AgentMessage& out) {
  wire::ControlHeader header;
  if (size < sizeof(header)) {
    return Taken::kBad;
  }
  std::memcpy(&header, bytes, sizeof(header));
  bool ok = true;
  switch (static_cast<wire::ControlType>(header.type)) {
  case wire::ControlType::kStarted:
    ok = take<wire::StartedMessage>(bytes, size, out);
    break;
  case wire::ControlType::kFailed:
    ok = take<wire::FailedMessage>(bytes, size, out);
    if (ok) {
      auto& detail = std::get<wire::FailedMessage>(out).detail;
      detail[sizeof(detail) - 1] = '\0';
    }
    break;
  case wire::ControlType::kStopped:
    ok = take<wire::StoppedMessage>(bytes, size, out);
    break;
  case wire::ControlType::kSymbols:
    ok = take<wire::SymbolsMessage>(bytes, size, out);
    break;
  default:
    return Taken::kSkipped;
  }
  return ok ? Taken::kMessage : Taken::kBad;
}

} // namespace

base::Status send_start(int socket, const wire::StartMessage& message, int region_fd) {
  wire::StartMessage copy = message;
  copy.header = header_of<wire::StartMessage>(wire::ControlType::kStart);
  return send_with_descriptor(socket, copy, region_fd, 0);
}

base::Status send_symbols_wanted(int socket, std::uint64_t base, std::uint64_t bytes,
                                 int memory_fd) {
  wire::SymbolsWantedMessage message{};
  message.header = header_of<wire::SymbolsWantedMessage>(wire::ControlType::kSymbolsWanted);
  message.base = base;
  message.bytes = bytes;
  return send_with_descriptor(socket, message, memory_fd, MSG_DONTWAIT);
}

base::Status send_drained(int socket, std::uint64_t ring_tail, std::uint32_t drained_generation) {
  wire::DrainedMessage message{};
  message.header = header_of<wire::DrainedMessage>(wire::ControlType::kDrained);
  message.ring_tail = ring_tail;
  message.drained_generation = drained_generation;
  return send_message(socket, message);
}

base::Status send_stop(int socket) {
  wire::StopMessage message{};
  message.header = header_of<wire::StopMessage>(wire::ControlType::kStop);
  return send_message(socket, message);
}

base::Result<std::optional<AgentMessage>> receive(int socket) {
  for (int i = 0; i < kMaxSkipped; ++i) {
    std::array<std::byte, wire::kMaxControlBytes> buffer;
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    // A peer that closes with messages of ours unread resets the connection, and the kernel reports
    // that once, before the peer's last messages.
    if (got < 0 && (errno == EINTR || errno == ECONNRESET)) {
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return std::nullopt;
    }
    if (got == 0 || (got < 0 && is_hang_up(errno))) {
      return AgentMessage(PeerGone{});
    }
    if (got < 0) {
      return base::errno_failure(errno, std::string("cannot read from ") + kSocket);
    }
    AgentMessage message;
    switch (take_packet(buffer.data(), static_cast<std::size_t>(got), message)) {
    case Taken::kMessage:
      return message;
    case Taken::kSkipped:
      break;
    case Taken::kBad:
      return base::make_failure(base::ErrorCode::kProtocol,
                                "the agent sent a message that is too short",
                                "use a sidecar and an agent of the same version");
    }
  }
  return std::nullopt;
}

base::Result<std::optional<AgentMessage>> receive_within(int socket,
                                                         std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    JPROF_TRY_ASSIGN(std::optional<AgentMessage> message, receive(socket));
    if (message) {
      return message;
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return std::nullopt;
    }
    pollfd wait{socket, POLLIN, 0};
    ::poll(&wait, 1, static_cast<int>(left.count()));
  }
}

} // namespace jprof::record
