// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/protocol/frame.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace jprof::serve {

// Frames over a connected stream socket that is never waited for: its owner polls. One thread.
class FrameStream {
 public:
  // Makes the descriptor non-blocking.
  explicit FrameStream(base::UniqueFd fd);

  int fd() const { return fd_.get(); }
  // Reads what is there. False once the other side has closed its end.
  base::Result<bool> receive();
  base::Result<std::optional<protocol::Frame>> take() { return decoder_.take(); }

  // Queues a frame; flush() writes what the socket accepts. An error means that the other side is
  // gone.
  void send(protocol::FrameType type, std::string_view payload);
  void send_raw(std::string frame) { out_ += frame; }
  base::Status flush();
  // Queued and not yet written.
  std::size_t pending() const { return out_.size() - written_; }

 private:
  base::UniqueFd fd_;
  protocol::FrameDecoder decoder_;
  std::string out_;
  std::size_t written_ = 0;
};

} // namespace jprof::serve
