// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/capture_process.h"

#include "sidecar/serve/capture_work.h"

#include <cerrno>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <utility>

namespace jprof::serve {

base::Result<CaptureProcess> CaptureProcess::start(ServeContext& context,
                                                   const protocol::RecordRequest& request) {
  JPROF_TRY_ASSIGN(Worker worker, start_worker("a capture", [&](base::UniqueFd channel) {
                     return run_capture_work(context, request, std::move(channel));
                   }));
  return CaptureProcess(std::move(worker));
}

base::Result<std::optional<protocol::Frame>> CaptureProcess::receive() {
  std::string packet(kMaxPacketBytes, '\0');
  const ssize_t got = ::recv(channel_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return std::nullopt;
  }
  if (got <= 0) {
    return base::make_failure(base::ErrorCode::kInternal, "the capture's process has ended");
  }
  protocol::FrameDecoder decoder;
  decoder.feed(std::string_view(packet).substr(0, static_cast<std::size_t>(got)));
  return decoder.take();
}

void CaptureProcess::cancel(protocol::CancelMode mode) {
  const std::string frame =
      protocol::encode_frame(protocol::FrameType::kCancel, protocol::encode_cancel(mode));
  // If it has already ended, there is nothing to cancel.
  static_cast<void>(
      ::send(channel_.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

} // namespace jprof::serve
