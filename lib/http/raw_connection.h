// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/http/http_client.h"

#include <cstddef>
#include <memory>
#include <span>

namespace jprof::http {

// A byte stream to the host of a URL, through the same TLS, proxy and certificate settings as
// requests: what a WebSocket runs on. One thread at a time. Closed by the destructor.
class RawConnection {
 public:
  virtual ~RawConnection() = default;

  // How much could be sent now; 0 if the connection is full (wait for POLLOUT). kUnavailable when
  // it is gone.
  virtual Result<std::size_t> send(std::span<const std::byte> bytes) = 0;

  struct Received {
    std::size_t bytes = 0;
    enum class State { kOpen, kEnded } state = State::kOpen; // kEnded: the peer closed in order
  };
  // What is there now; 0 bytes and kOpen: nothing yet (wait for POLLIN). TLS may hold bytes that
  // poll() does not see: call again until it gives 0.
  virtual Result<Received> receive(std::span<std::byte> out) = 0;

  // For poll(); owned by the connection.
  virtual int socket() const = 0;
};

// Connects (DNS, TCP, proxy, TLS) within options.connect_timeout; sends no HTTP, except CONNECT to
// a proxy. Failures as for HttpClient::send. Cannot be interrupted.
Result<std::unique_ptr<RawConnection>> open_raw_connection(const ClientOptions& options,
                                                           const Url& url);

} // namespace jprof::http
