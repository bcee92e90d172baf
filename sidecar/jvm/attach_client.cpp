// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/attach_client.h"

#include "sidecar/jvm/attach_socket.h"
#include "sidecar/jvm/openj9_attach.h"
#include "sidecar/jvm/openj9_protocol.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/sockios.h>
#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace jprof::jvm {
namespace {

using base::Deadline;
using base::ErrorCode;

constexpr std::size_t kMaxOpenJ9Bytes = 64U << 20U; // its answer is held whole

base::Status check_stopped(const AttachLimits& limits, const char* meanwhile) {
  return limits.stopped && limits.stopped()
             ? base::make_failure(ErrorCode::kInterrupted,
                                  std::string("interrupted while ") + meanwhile)
             : base::Status();
}

base::Status wait_for(int socket, short events, Deadline deadline, const AttachLimits& limits) {
  constexpr std::chrono::milliseconds kLook{100};
  for (;;) {
    JPROF_TRY(check_stopped(limits, "the JVM was working on the request"));
    const Deadline look = limits.stopped ? Deadline::after(kLook).sooner(deadline) : deadline;
    pollfd wait{socket, events, 0};
    const int ready = ::poll(&wait, 1, look.poll_milliseconds());
    if (ready > 0) {
      return {};
    }
    if (ready < 0 && errno != EINTR) {
      return base::errno_failure(errno, "cannot wait for the JVM");
    }
    if (deadline.expired()) {
      return base::make_failure(ErrorCode::kTimeout, "the JVM did not answer in time",
                                "it may be in a long pause, stopped or short of CPU: try again "
                                "when it is not");
    }
  }
}

// True if it was sent; false if the JVM closed the connection: what it said before can still be
// read.
base::Result<bool> send_request(int socket, std::string_view request, Deadline deadline,
                                const AttachLimits& limits) {
  while (!request.empty()) {
    const ssize_t sent =
        ::send(socket, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      request.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      JPROF_TRY(wait_for(socket, POLLOUT, deadline, limits));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return false;
    } else if (errno != EINTR) {
      return base::errno_failure(errno, "cannot send to the JVM");
    }
  }
  return true;
}

// A JVM reads one request after the other, and reads one that waits for it even after we have hung
// up. One that is frozen, or whose listener somebody else keeps busy, would do what we asked long
// after we have given up, and load whatever then has the name of the library. So it gets the last
// byte when it has read all others: of a request that ends too soon it does nothing.
base::Status wait_until_read(int socket, Deadline deadline, const AttachLimits& limits) {
  constexpr std::chrono::microseconds kFirstLook{50};
  constexpr std::chrono::microseconds kMaxLook{5000};
  for (std::chrono::microseconds look = kFirstLook;; look = std::min(look * 2, kMaxLook)) {
    int unread = 0; // unix(7), SIOCINQ's counterpart: what the peer has not read
    if (::ioctl(socket, SIOCOUTQ, &unread) != 0 || unread == 0) {
      return {}; // or it cannot be known
    }
    JPROF_TRY(check_stopped(limits, "the JVM did not read the request, which is withdrawn"));
    if (deadline.expired()) {
      return base::make_failure(
          ErrorCode::kTimeout, "the JVM did not read the request in time, so it was withdrawn",
          "its container may be frozen (paused), it may be in a long pause, or another client may "
          "keep its attach listener busy (jcmd, jstack, a monitoring agent): try again when that "
          "is over");
    }
    pollfd wait{socket, POLLIN, 0};
    const timespec time{0, std::chrono::nanoseconds(look).count()};
    if (::ppoll(&wait, 1, &time, nullptr) > 0) {
      return {}; // it answers or hangs up without having read everything
    }
  }
}

base::Result<bool> hand_over(int socket, std::string_view request, Deadline deadline,
                             const AttachLimits& limits) {
  JPROF_TRY_ASSIGN(const bool taken,
                   send_request(socket, request.substr(0, request.size() - 1), deadline, limits));
  if (!taken) {
    return false;
  }
  JPROF_TRY(wait_until_read(socket, deadline, limits));
  if (limits.on_handed_over) {
    limits.on_handed_over();
  }
  return send_request(socket, request.substr(request.size() - 1), deadline, limits);
}

// The answer as it comes in: held whole, or only its beginning if somebody takes the text.
class Answer {
 public:
  explicit Answer(const AttachLimits& limits) : limits_(limits) {}

  base::Status add(std::string_view piece) {
    total_ += piece.size();
    if (total_ > limits_.answer_bytes) {
      return base::make_failure(ErrorCode::kLimit, "the JVM's answer is longer than " +
                                                       std::to_string(limits_.answer_bytes) +
                                                       " bytes");
    }
    const std::size_t before = held_.size();
    const std::size_t room =
        limits_.on_text ? kHeldBytes - std::min(before, kHeldBytes) : piece.size();
    held_.append(piece.substr(0, room));
    if (limits_.on_text) {
      offer(piece, before);
    }
    return {};
  }
  const std::string& held() const { return held_; }

 private:
  static constexpr std::size_t kHeldBytes = 64 * 1024;

  // What of `piece` comes after the result line, which is at the beginning of what is held.
  void offer(std::string_view piece, std::size_t before) {
    if (!in_text_) {
      const auto line = held_.find('\n');
      if (line == std::string::npos) {
        return;
      }
      in_text_ = true;
      piece.remove_prefix(line + 1 - before);
    }
    if (!piece.empty()) {
      limits_.on_text(piece);
    }
  }

  const AttachLimits& limits_;
  std::string held_;
  std::size_t total_ = 0;
  bool in_text_ = false;
};

base::Result<int> probe_version(const Target& target, Deadline deadline) {
  JPROF_TRY_ASSIGN(const std::string request, encode_version_1({"getversion", {"options"}}));
  JPROF_TRY_ASSIGN(const base::UniqueFd socket, open_attach_socket(target, deadline));
  const auto reply = exchange(socket.get(), request, deadline, {});
  return reply ? supported_version(*reply) : 1;
}

// One message of OpenJ9, up to its NUL, which is left out.
base::Result<std::string> hear_openj9(int socket, Deadline deadline, const AttachLimits& limits) {
  std::string heard;
  std::array<char, 16 * 1024> buffer{};
  while (heard.empty() || heard.back() != '\0') {
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      heard.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got < 0 && errno == EAGAIN) {
      JPROF_TRY(wait_for(socket, POLLIN, deadline, limits));
    } else if (got == 0 || errno != EINTR) {
      return base::make_failure(ErrorCode::kAttachFailed,
                                "the JVM closed the connection without an answer",
                                "it may be exiting");
    }
    if (heard.size() > limits.answer_bytes || heard.size() > kMaxOpenJ9Bytes) {
      return base::make_failure(ErrorCode::kLimit, "the JVM's answer is too long");
    }
    if (deadline.expired()) { // also for one that sends without end
      return base::make_failure(ErrorCode::kTimeout, "the JVM's answer did not end in time");
    }
  }
  heard.pop_back();
  return heard;
}

base::Result<AttachReply> run_openj9(const Target& target, const AttachCommand& command,
                                     Deadline deadline, const AttachLimits& limits) {
  JPROF_TRY(encode_openj9(command)); // before the JVM is asked
  JPROF_TRY_ASSIGN(const base::UniqueFd socket, open_openj9(target, deadline));
  if (limits.on_connected) {
    limits.on_connected();
  }
  return exchange_openj9(socket.get(), command, deadline, limits);
}

} // namespace

base::Result<AttachReply> exchange_openj9(int socket, const AttachCommand& command,
                                          Deadline deadline, const AttachLimits& limits) {
  JPROF_TRY_ASSIGN(std::string message, encode_openj9(command));
  message += '\0';
  JPROF_TRY(send_request(socket, message, deadline, limits));
  JPROF_TRY_ASSIGN(const std::string answer, hear_openj9(socket, deadline, limits));
  AttachReply reply = parse_openj9(command, answer);
  if (limits.on_text && reply.code == 0) {
    limits.on_text(reply.text);
  }
  // A JVM that does not say good-bye has answered all the same.
  constexpr std::chrono::seconds kPatience{1};
  const Deadline soon = Deadline::after(kPatience).sooner(deadline);
  if (send_request(socket, std::string("ATTACH_DETACHED") + '\0', soon, limits)) {
    static_cast<void>(hear_openj9(socket, soon, limits));
  }
  return reply;
}

base::Result<AttachReply> exchange(int socket, std::string_view request, Deadline deadline,
                                   const AttachLimits& limits) {
  JPROF_TRY(hand_over(socket, request, deadline, limits));
  Answer answer(limits);
  std::array<char, 16 * 1024> buffer{};
  for (;;) {
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) {
      JPROF_TRY(wait_for(socket, POLLIN, deadline, limits));
      continue;
    }
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && errno != ECONNRESET) {
      return base::errno_failure(errno, "cannot read the JVM's answer");
    }
    if (got <= 0) {
      return parse_reply(answer.held());
    }
    JPROF_TRY(answer.add({buffer.data(), static_cast<std::size_t>(got)}));
    if (deadline.expired()) { // a server that sends without end must not hold us
      return base::make_failure(ErrorCode::kTimeout, "the JVM's answer did not end in time");
    }
  }
}

base::Result<AttachReply> run_command(const Target& target, const AttachCommand& command,
                                      Deadline deadline, const AttachLimits& limits) {
  if (target.vm.vm == container::Vm::kOpenJ9) {
    return run_openj9(target, command, deadline, limits);
  }
  int version = 1;
  if (!fits_version_1(command)) {
    JPROF_TRY_ASSIGN(version, probe_version(target, deadline));
  }
  JPROF_TRY_ASSIGN(const std::string request,
                   version == 2 ? encode_version_2(command) : encode_version_1(command));
  JPROF_TRY_ASSIGN(const base::UniqueFd socket, open_attach_socket(target, deadline));
  if (limits.on_connected) {
    limits.on_connected();
  }
  return exchange(socket.get(), request, deadline, limits);
}

} // namespace jprof::jvm
