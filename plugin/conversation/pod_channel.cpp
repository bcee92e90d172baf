// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/conversation/pod_channel.h"

#include <optional>

namespace jprof::plugin {
namespace {

constexpr std::size_t kMaxErrorOutput = 4096;

} // namespace

base::Result<ByteChannel::Event> PodChannel::read(std::chrono::milliseconds timeout, int wake_fd) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    JPROF_TRY_ASSIGN(std::optional<kube::ExecEvent> event,
                     stream_->next(std::max(left, std::chrono::milliseconds(0)), wake_fd));
    if (!event) {
      return Event{};
    }
    switch (event->kind) {
    case kube::ExecEvent::Kind::kStdout:
      return Event{Event::Kind::kBytes, std::move(event->data), 0};
    case kube::ExecEvent::Kind::kExit:
      return Event{Event::Kind::kEnded, {}, event->exit_code};
    case kube::ExecEvent::Kind::kStderr:
      error_output_ += event->data;
      if (error_output_.size() > kMaxErrorOutput) {
        error_output_.erase(0, error_output_.size() - kMaxErrorOutput);
      }
      break;
    }
  }
}

} // namespace jprof::plugin
