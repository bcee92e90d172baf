// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/scripted_agent.h"

#include "lib/base/check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <poll.h>
#include <span>
#include <sys/socket.h>
#include <utility>

namespace jprof::testing {
namespace {

template <typename Message>
Message with_header(wire::ControlType type) {
  Message message{};
  message.header = {static_cast<std::uint32_t>(type), sizeof(Message)};
  return message;
}

// The start message and the descriptor that came with it; an invalid one if nothing came.
base::UniqueFd receive_start(int socket, wire::StartMessage& out) {
  iovec part{&out, sizeof(out)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr packet{};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  packet.msg_control = control.data();
  packet.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket, &packet, MSG_CMSG_CLOEXEC);
  const cmsghdr* rights = CMSG_FIRSTHDR(&packet);
  if (got != static_cast<ssize_t>(sizeof(out)) || rights == nullptr) {
    return {};
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(rights), sizeof(fd));
  return base::UniqueFd(fd);
}

// A sidecar that is short of memory gives a small region: the arenas, two of each, leave it room.
RegionShape fitting(RegionShape shape, std::uint64_t region_bytes) {
  shape.stack_bytes = std::min(shape.stack_bytes, region_bytes / 8);
  shape.name_bytes = std::min(shape.name_bytes, region_bytes / 8);
  return shape;
}

} // namespace

ScriptedAgent::Session::Session(int socket, const wire::StartMessage& start,
                                base::UniqueFd region_fd, const RegionShape& shape)
    : socket_(socket), start_(start), region_fd_(std::move(region_fd)),
      region_(std::make_unique<RegionBuilder>(region_fd_.get(), start.region_bytes,
                                              std::span<const std::uint64_t, 2>(start.session),
                                              fitting(shape, start.region_bytes))) {}

void ScriptedAgent::Session::send_raw(const void* bytes, std::size_t size) {
  [[maybe_unused]] const ssize_t sent = ::send(socket_, bytes, size, MSG_NOSIGNAL);
}

void ScriptedAgent::Session::send_started() {
  auto message = with_header<wire::StartedMessage>(wire::ControlType::kStarted);
  message.threads_armed = 1;
  message.start_mono_ns = region_->header().start_mono_ns;
  send_raw(&message, sizeof(message));
}

void ScriptedAgent::Session::send_failed(wire::AgentStatus status, const char* detail) {
  auto message = with_header<wire::FailedMessage>(wire::ControlType::kFailed);
  message.status = static_cast<std::uint32_t>(status);
  std::strncpy(message.detail, detail, sizeof(message.detail) - 1);
  send_raw(&message, sizeof(message));
}

void ScriptedAgent::Session::send_stopped(wire::StopReason reason, std::uint32_t in_flight,
                                          wire::HandlerLeft handler_left) {
  region_->set_state(wire::RegionState::kStopped);
  auto message = with_header<wire::StoppedMessage>(wire::ControlType::kStopped);
  message.reason = static_cast<std::uint32_t>(reason);
  message.in_flight = in_flight;
  message.handler_left = handler_left;
  message.stop_mono_ns = region_->header().start_mono_ns + 1'000'000;
  send_raw(&message, sizeof(message));
}

bool ScriptedAgent::Session::peer_is_gone() const {
  pollfd look{socket_, 0, 0};
  return ::poll(&look, 1, 0) > 0 && (look.revents & POLLHUP) != 0;
}

bool ScriptedAgent::Session::hear(std::chrono::milliseconds timeout) {
  pollfd wait{socket_, POLLIN, 0};
  if (::poll(&wait, 1, static_cast<int>(timeout.count())) <= 0) {
    return false;
  }
  std::array<std::byte, wire::kMaxControlBytes> buffer;
  const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (got < static_cast<ssize_t>(sizeof(wire::ControlHeader))) {
    hung_up_ = true;
    return false;
  }
  wire::ControlHeader header;
  std::memcpy(&header, buffer.data(), sizeof(header));
  if (header.type == static_cast<std::uint32_t>(wire::ControlType::kStop)) {
    stop_seen_ = true;
  } else if (header.type == static_cast<std::uint32_t>(wire::ControlType::kDrained)) {
    wire::DrainedMessage drained;
    std::memcpy(&drained, buffer.data(), sizeof(drained));
    region_->acknowledge(drained.ring_tail, drained.drained_generation);
    ++drained_messages_;
  }
  return true;
}

ScriptedAgent::ScriptedAgent(Script script, const RegionShape& shape) {
  std::array<int, 2> ends{};
  JPROF_CHECK(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
  sidecar_.reset(ends[0]);
  agent_.reset(ends[1]);
  thread_ = std::thread([this, script = std::move(script), shape] { run(script, shape); });
}

ScriptedAgent::~ScriptedAgent() {
  sidecar_.reset();
  thread_.join();
}

bool ScriptedAgent::play(int socket, const Script& script, const RegionShape& shape) {
  wire::StartMessage start{};
  base::UniqueFd region = receive_start(socket, start);
  if (!region) {
    return false;
  }
  Session session(socket, start, std::move(region), shape);
  script(session);
  return true;
}

void ScriptedAgent::run(const Script& script, const RegionShape& shape) {
  play(agent_.get(), script, shape);
  agent_.reset(); // hangs up, like a JVM that ends
}

} // namespace jprof::testing
