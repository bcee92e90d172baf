// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
// The part of a connection that sends commands to a JVM.
#include "lib/log/log.h"
#include "lib/protocol/reply.h"
#include "sidecar/serve/admission.h"
#include "sidecar/serve/connection.h"

#include <utility>

namespace jprof::serve {

using protocol::FrameType;

void Connection::on_attach(const protocol::AttachRequest& request) {
  if (context_.broken) {
    send_error(*context_.broken);
    return;
  }
  if (auto checked = check_attach(context_.config, request); !checked) {
    log::warning("'" + request.command + "' for '" + request.requester +
                 "' is refused: " + checked.error().message);
    send_error(std::move(checked).error());
    return;
  }
  auto started = AttachProcess::start(context_, request);
  if (!started) {
    send_error(std::move(started).error());
    return;
  }
  attach_ = std::move(*started);
  state_ = State::kAsking;
}

void Connection::on_answer() {
  auto answer = attach_->finish();
  attach_.reset();
  if (!answer) {
    send_error(std::move(answer).error());
    return;
  }
  if (!caller_here_) {
    finish_request();
    return;
  }
  if (answer->frame.type == FrameType::kError) {
    stream_.send(FrameType::kError, answer->frame.payload);
    finish_request();
    return;
  }
  const auto result = protocol::parse_result(answer->frame.payload);
  if (!result || result->files.size() != 1 || !answer->file) {
    send_error(base::make_error(base::ErrorCode::kInternal, "the answer came without its file"));
    return;
  }
  stream_.send(FrameType::kResult, answer->frame.payload);
  begin_sending(FileSender(std::move(answer->file), result->files[0]));
}

} // namespace jprof::serve
