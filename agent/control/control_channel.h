// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The agent's end of the control socket (lib/wire/control.h). Owned by one thread of the agent.

#include "agent/control/options.h"
#include "lib/wire/control.h"

#include <cstddef>
#include <cstdint>

namespace jprof::agent {

// A message as received; `bytes` is 0 if there was none.
struct ReceivedMessage {
  alignas(8) unsigned char data[wire::kMaxControlBytes];
  std::size_t bytes = 0;
  int fd = -1; // if one was passed along, otherwise -1; the receiver closes it

  wire::ControlType type() const;
  // The message as `T`; null if it is too short for one.
  template <typename T>
  const T* as() const {
    return bytes >= sizeof(T) ? reinterpret_cast<const T*>(data) : nullptr;
  }
};

enum class ReceiveResult { kMessage, kNothing, kHangUp, kRefused };

class ControlChannel {
 public:
  ControlChannel() = default;
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;
  ~ControlChannel() { close(); }

  // 0 or -errno.
  long connect(const char* path);
  // Waits for a message until the timeout. A hang-up is reported only after everything sent before
  // it; kRefused: the kernel does not let us read, see error().
  ReceiveResult receive(ReceivedMessage* message, std::int64_t timeout_ns);
  long error() const { return error_; }
  // From now on nothing more is read, because that might be deadly.
  void do_not_receive() { may_receive_ = false; }
  // Never blocks and never raises SIGPIPE; false if the peer is gone or its queue is full.
  bool send(const void* message, std::size_t bytes);
  // Reads and drops messages until the peer hangs up or the timeout passes: closing a socket with
  // unread messages would discard what we sent last.
  void wait_for_hang_up(std::int64_t timeout_ns);
  void close();

 private:
  int fd_ = -1;
  long error_ = 0;
  bool may_receive_ = true;
};

template <typename T>
T make_message(wire::ControlType type) {
  T message{};
  message.header.type = static_cast<std::uint32_t>(type);
  message.header.bytes = sizeof(T);
  return message;
}

} // namespace jprof::agent
