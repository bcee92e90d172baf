// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/frame_stream.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <utility>

namespace jprof::serve {

FrameStream::FrameStream(base::UniqueFd fd) : fd_(std::move(fd)) {
  const int flags = ::fcntl(fd_.get(), F_GETFL);
  ::fcntl(fd_.get(), F_SETFL, flags | O_NONBLOCK);
}

base::Result<bool> FrameStream::receive() {
  std::array<char, 16 * 1024> buffer{};
  const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
  if (got > 0) {
    decoder_.feed({buffer.data(), static_cast<std::size_t>(got)});
    return true;
  }
  if (got == 0) {
    return false;
  }
  if (errno == EAGAIN || errno == EINTR) {
    return true;
  }
  return base::errno_failure(errno, "cannot read from the caller");
}

void FrameStream::send(protocol::FrameType type, std::string_view payload) {
  out_ += protocol::encode_frame(type, payload);
}

base::Status FrameStream::flush() {
  while (pending() > 0) {
    const ssize_t wrote =
        ::send(fd_.get(), out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0 && errno == EAGAIN) {
      break;
    }
    if (wrote < 0) {
      return base::errno_failure(errno, "cannot write to the caller");
    }
    written_ += static_cast<std::size_t>(wrote);
  }
  if (pending() == 0 || written_ > protocol::kMaxPayloadBytes) {
    out_.erase(0, std::exchange(written_, 0));
  }
  return {};
}

} // namespace jprof::serve
