// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/http/websocket.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace jprof::kube {

struct ExecEvent {
  enum class Kind { kStdout, kStderr, kExit };
  Kind kind = Kind::kStdout;
  std::string data; // of stdout and stderr
  int exit_code = 0;
};

// A command that runs in a container, over a WebSocket that speaks v4 or v5 of channel.k8s.io.
// Pings every 5 s, so that idle cut-offs of load balancers do not end a long capture, and gives up
// on a peer that is silent for a minute. One thread at a time; the destructor drops the connection,
// which the command sees as the end of its stdin.
class ExecStream {
 public:
  struct Timing {
    std::chrono::milliseconds ping{5000};
    std::chrono::milliseconds silence{60000};
  };

  explicit ExecStream(std::unique_ptr<http::WebSocket> socket);
  ExecStream(std::unique_ptr<http::WebSocket> socket, Timing timing);

  // Sends to the command's stdin: queues, and sends what the connection takes now; next() sends the
  // rest.
  base::Status write(std::string_view bytes);

  // The next event, or nothing when `timeout` has passed or `wake_fd` (-1: none) is readable.
  // kUnavailable when the connection ended without a status: that is a lost connection, never a
  // success. After kExit nothing follows.
  base::Result<std::optional<ExecEvent>> next(std::chrono::milliseconds timeout, int wake_fd = -1);

  // Says goodbye as far as that needs no waiting. next() must not be called afterwards.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Wait { kPump, kWoken };
  base::Result<Wait> wait(Clock::time_point until, int wake_fd);
  base::Result<std::optional<ExecEvent>> take_event();
  base::Status keep_alive(Clock::time_point now);
  base::Error lost() const;

  std::unique_ptr<http::WebSocket> socket_;
  Timing timing_;
  Clock::time_point next_ping_;
};

} // namespace jprof::kube
