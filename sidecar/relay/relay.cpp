// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/relay/relay.h"

#include "lib/base/deadline.h"
#include "lib/base/file.h"
#include "lib/protocol/frame.h"
#include "lib/protocol/hello.h"
#include "lib/protocol/reply.h"
#include "sidecar/serve/socket.h"

#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace jprof::relay {
namespace {

using namespace std::chrono_literals;

// False once `from` has ended or `to` accepts no more.
bool copy_some(int from, int to) {
  std::array<char, 64 * 1024> buffer;
  const ssize_t got = ::read(from, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) {
    return true;
  }
  return got > 0 &&
         base::write_all(to, {buffer.data(), static_cast<std::size_t>(got)}, "relay").has_value();
}

} // namespace

base::Result<int> connect_to_serve(const std::vector<std::string>& sockets,
                                   std::chrono::milliseconds patience) {
  const base::Deadline deadline = base::Deadline::after(patience);
  for (;;) {
    base::Error last;
    for (const std::string& path : sockets) {
      auto fd = serve::connect_to(path);
      if (fd) {
        return fd->release();
      }
      last = std::move(fd).error();
      if (last.code == base::ErrorCode::kPermission) {
        return base::fail(std::move(last));
      }
    }
    if (deadline.expired()) {
      return base::make_failure(base::ErrorCode::kUnavailable,
                                "'jprof serve' does not run here: " + last.message,
                                "see the log of the jprof container");
    }
    std::this_thread::sleep_for(20ms);
  }
}

void relay(int input, int output, int socket) {
  // One thread for each direction: neither may delay the other. The upward one may be blocked in
  // read(2) for ever; it ends with the process.
  std::thread([input, socket] {
    while (copy_some(input, socket)) {
    }
    ::shutdown(socket, SHUT_WR);
  }).detach();
  while (copy_some(socket, output)) {
  }
}

void tell_failure(int output, const base::Error& error) {
  const std::string text = protocol::encode_frame(protocol::FrameType::kHello,
                                                  protocol::encode_hello(protocol::our_hello({}))) +
                           protocol::encode_frame(protocol::FrameType::kError,
                                                  protocol::encode_error({error, "", "", "", ""}));
  static_cast<void>(base::write_all(output, text, "output"));
}

} // namespace jprof::relay
