// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/control/control_channel.h"

#include "agent/os/system.h"

#include <errno.h>
#include <sys/un.h>

namespace jprof::agent {

wire::ControlType ReceivedMessage::type() const {
  const auto* header = as<wire::ControlHeader>();
  return static_cast<wire::ControlType>(header != nullptr ? header->type : 0);
}

long ControlChannel::connect(const char* path) {
  close();
  const long fd =
      arch::system_call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    return fd;
  }
  fd_ = static_cast<int>(fd);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  for (std::size_t i = 0; i + 1 < sizeof address.sun_path && path[i] != 0; ++i) {
    address.sun_path[i] = path[i];
  }
  const long result =
      arch::system_call(SYS_connect, fd_, os::as_argument(&address), sizeof address);
  if (result != 0) {
    close();
  }
  return result;
}

ReceiveResult ControlChannel::receive(ReceivedMessage* message, std::int64_t timeout_ns) {
  pollfd event{.fd = fd_, .events = POLLIN, .revents = 0};
  const long ready = os::wait_for_events(&event, 1, timeout_ns);
  if (ready <= 0 || event.revents == 0) {
    return ReceiveResult::kNothing;
  }
  alignas(cmsghdr) unsigned char control[64] = {};
  iovec part{.iov_base = message->data, .iov_len = sizeof message->data};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const long got = arch::system_call(SYS_recvmsg, fd_, os::as_argument(&header),
                                     MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  message->bytes = got > 0 ? static_cast<std::size_t>(got) : 0;
  message->fd = -1;
  const cmsghdr* passed = CMSG_FIRSTHDR(&header);
  if (got > 0 && passed != nullptr && passed->cmsg_level == SOL_SOCKET &&
      passed->cmsg_type == SCM_RIGHTS && passed->cmsg_len >= CMSG_LEN(sizeof(int))) {
    __builtin_memcpy(&message->fd, CMSG_DATA(passed), sizeof(int));
  }
  if (got == -EAGAIN || got == -EINTR) {
    return ReceiveResult::kNothing;
  }
  if (got < 0 && got != -ECONNRESET) { // a seccomp filter's answer
    may_receive_ = false;
    error_ = got;
    return ReceiveResult::kRefused;
  }
  return got > 0 ? ReceiveResult::kMessage : ReceiveResult::kHangUp;
}

bool ControlChannel::send(const void* message, std::size_t bytes) {
  return arch::system_call(SYS_sendto, fd_, os::as_argument(message), static_cast<long>(bytes),
                           MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<long>(bytes);
}

void ControlChannel::wait_for_hang_up(std::int64_t timeout_ns) {
  const auto deadline = os::clock_ns(CLOCK_MONOTONIC) + static_cast<std::uint64_t>(timeout_ns);
  ReceivedMessage message;
  while (fd_ >= 0) {
    const std::uint64_t now = os::clock_ns(CLOCK_MONOTONIC);
    if (now < deadline && !may_receive_) {
      pollfd event{.fd = fd_, .events = 0, .revents = 0}; // a hang-up is always reported
      os::wait_for_events(&event, 1, static_cast<std::int64_t>(deadline - now));
      if (event.revents != 0) {
        return;
      }
      continue;
    }
    if (now >= deadline ||
        receive(&message, static_cast<std::int64_t>(deadline - now)) == ReceiveResult::kHangUp) {
      return;
    }
    if (message.fd >= 0) {
      os::close_fd(message.fd);
      message.fd = -1;
    }
  }
}

void ControlChannel::close() {
  if (fd_ >= 0) {
    os::close_fd(fd_);
    fd_ = -1;
  }
}

} // namespace jprof::agent
