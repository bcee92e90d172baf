// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/capture_process.h"

#include "sidecar/serve/capture_work.h"
#include "sidecar/serve/guarded.h"

#include <cerrno>
#include <csignal>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utility>

namespace jprof::serve {

base::Result<CaptureProcess> CaptureProcess::start(ServeContext& context,
                                                   const control::RecordRequest& request) {
  JPROF_TRY_ASSIGN(Worker worker, start_worker("a capture", [&](base::UniqueFd channel) {
                     return run_capture_work(context, request, std::move(channel));
                   }));
  return CaptureProcess(std::move(worker));
}

base::Result<std::optional<control::Frame>> CaptureProcess::receive() {
  std::string packet(kMostPacketBytes, '\0');
  const ssize_t got = ::recv(channel_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return std::nullopt;
  }
  if (got <= 0) {
    return base::make_failure(base::ErrorCode::kInternal, "the capture's process has ended");
  }
  control::FrameDecoder decoder;
  decoder.feed(std::string_view(packet).substr(0, static_cast<std::size_t>(got)));
  return decoder.take();
}

void CaptureProcess::cancel(control::CancelMode mode) {
  const std::string frame =
      control::encode_frame(control::FrameType::kCancel, control::encode_cancel(mode));
  // If it has ended already there is nothing to cancel.
  static_cast<void>(
      ::send(channel_.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

std::string CaptureProcess::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) {
      return "lost";
    }
  }
  if (WIFSIGNALED(status)) {
    return "killed by signal " + std::to_string(WTERMSIG(status)) +
           (WTERMSIG(status) == SIGKILL ? ", probably out of memory" : "");
  }
  if (WEXITSTATUS(status) == kNoMemoryLeft) {
    return std::string(kStoppedForMemory);
  }
  return WEXITSTATUS(status) == 0 ? "" : "ended with code " + std::to_string(WEXITSTATUS(status));
}

} // namespace jprof::serve
