// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/conversation/conversation.h"

#include "lib/base/encoding.h"

#include <algorithm>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;
using protocol::Frame;
using protocol::FrameType;

tl::unexpected<base::Error> out_of_place(FrameType type) {
  return base::make_failure(ErrorCode::kProtocol, "the sidecar sent a " +
                                                      protocol::frame_type_name(type) +
                                                      " frame where none is allowed");
}

// How long a sidecar may work on a request before its result is due. No capture is longer than a
// day, not even one that somebody else requested.
std::chrono::nanoseconds work_time(const protocol::Request& request) {
  constexpr std::chrono::hours kMaxCaptureTime{24};
  constexpr std::chrono::seconds kAttachTime{30}; // docs/formats/protocol.md
  switch (request.kind) {
  case protocol::RequestKind::kRecord:
    return request.record.join
               ? std::max<std::chrono::nanoseconds>(kMaxCaptureTime, request.record.duration)
               : request.record.duration;
  case protocol::RequestKind::kFetch:
    return request.fetch.wait ? kMaxCaptureTime : std::chrono::nanoseconds(0);
  case protocol::RequestKind::kAttach:
    return request.attach.timeout.count() == 0 ? kAttachTime : request.attach.timeout;
  default:
    return std::chrono::nanoseconds(0);
  }
}

// The sidecar's refusal as our own failure: same code, its words, and what is in the way.
base::Error to_error(const protocol::ErrorMessage& message) {
  base::Error error = message.error;
  if (error.code == ErrorCode::kBusy && error.cure.empty() && !message.busy_until.empty()) {
    error.cure = "the running capture ends at " + message.busy_until +
                 "; --join waits for it and brings its result";
  }
  if (error.code == ErrorCode::kSeveralTargets) {
    error.cure = "name one with --pid; a capture also takes its container, -c";
  }
  return error;
}

} // namespace

Conversation::Conversation(std::unique_ptr<ByteChannel> channel, const Interrupt& interrupt,
                           int seen_interrupts)
    : Conversation(std::move(channel), interrupt, seen_interrupts, Timing()) {}

Conversation::Conversation(std::unique_ptr<ByteChannel> channel, const Interrupt& interrupt,
                           int seen_interrupts, Timing timing)
    : channel_(std::move(channel)), interrupt_(interrupt), seen_interrupts_(seen_interrupts),
      timing_(timing) {}

base::Error Conversation::lost_error(base::Error error) {
  lost_ = true;
  return error;
}

// The session's process ended: its own words say why, if it printed any.
base::Error Conversation::ended(int exit_code) const {
  const std::string words = base::printable(channel_->error_output(), 500);
  const std::string detail = words.empty() ? "" : ": " + words;
  if (!heard_ && exit_code != 0) {
    return base::make_error(ErrorCode::kNoSidecar,
                            "/jprof session ended with exit code " + std::to_string(exit_code) +
                                " before it said anything" + detail,
                            "is the image of container jprof the jprof image, and does it run "
                            "`/jprof serve`?");
  }
  return base::make_error(ErrorCode::kUnavailable, "the session in the pod ended" + detail);
}

Result<std::optional<Frame>> Conversation::next_frame(std::chrono::milliseconds timeout,
                                                      int wake_fd) {
  JPROF_TRY_ASSIGN(std::optional<Frame> frame, decoder_.take());
  if (!frame) {
    Result<ByteChannel::Event> event = channel_->read(timeout, wake_fd);
    if (!event) {
      return base::fail(lost_error(std::move(event).error()));
    }
    if (event->kind == ByteChannel::Event::Kind::kEnded) {
      return base::fail(lost_error(ended(event->exit_code)));
    }
    decoder_.feed(event->bytes);
    JPROF_TRY_ASSIGN(frame, decoder_.take());
  }
  heard_ = heard_ || frame.has_value();
  return frame;
}

base::Status Conversation::send(FrameType type, std::string_view payload) {
  base::Status sent = channel_->write(protocol::encode_frame(type, payload));
  return sent ? sent : base::fail(lost_error(std::move(sent).error()));
}

base::Status Conversation::on_interrupt(Stage stage) {
  const int count = interrupt_.count();
  if (count <= seen_interrupts_) {
    return {};
  }
  seen_interrupts_ = count;
  if (stage == Stage::kOpening) {
    return base::make_failure(ErrorCode::kInterrupted, "interrupted, nothing kept");
  }
  if (stage == Stage::kArriving) {
    // The first interrupt asks for what there is, and that is what comes.
    return count > 1 ? base::make_failure(ErrorCode::kInterrupted,
                                          "interrupted while the files were on their way")
                     : base::Status();
  }
  const auto mode = count > 1 ? protocol::CancelMode::kDiscard : protocol::CancelMode::kKeep;
  JPROF_TRY(send(FrameType::kCancel, protocol::encode_cancel(mode)));
  if (count > 1 && !records_) {
    return base::make_failure(ErrorCode::kInterrupted, "interrupted, nothing kept here");
  }
  if (count > 1) {
    discard_until_ = Clock::now() + timing_.discard;
  }
  return {};
}

base::Error Conversation::after_discard(base::Error error) {
  // A capture that is recorded but not sealed is not discarded either.
  const bool says_all =
      refusal_ ? error.code == ErrorCode::kNotStored : error.code == ErrorCode::kInterrupted;
  if (!discard_until_ || says_all) {
    return error;
  }
  if (refusal_) {
    discarded_ = true; // it ended without a capture, for whatever reason
    return base::make_error(ErrorCode::kInterrupted, "interrupted, nothing kept");
  }
  return base::make_error(ErrorCode::kInterrupted,
                          "interrupted, but the sidecar has not said that it threw the capture "
                          "away (" +
                              error.message + ")",
                          "kubectl jprof list POD shows what is kept");
}

// The next frame that means something: answers pings, asks after a long silence.
Result<Frame> Conversation::wait_frame(Stage stage, Clock::time_point until) {
  auto heard = Clock::now();
  auto asked = heard;
  for (;;) {
    JPROF_TRY(on_interrupt(stage));
    until = discard_until_ ? std::min(until, *discard_until_) : until;
    if (Clock::now() >= until) {
      return base::fail(lost_error(base::make_error(
          ErrorCode::kTimeout, "the sidecar answers, but its result is long overdue",
          "look at the log of container jprof")));
    }
    const auto next_ask = std::max(heard, asked) + timing_.ping;
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(std::min(next_ask, until) - Clock::now());
    JPROF_TRY_ASSIGN(std::optional<Frame> frame,
                     next_frame(std::max(wait, std::chrono::milliseconds(0)),
                                interrupt_.wake_fd(seen_interrupts_)));
    const auto now = Clock::now();
    if (frame) {
      heard = now;
      if (frame->type == FrameType::kPing) {
        JPROF_TRY(send(FrameType::kPong, frame->payload));
      } else if (frame->type != FrameType::kPong) {
        return std::move(*frame);
      }
      continue;
    }
    if (now - heard > timing_.silence) {
      return base::fail(lost_error(base::make_error(
          ErrorCode::kTimeout, "the sidecar has not answered for " +
                                   std::to_string(timing_.silence.count() / 1000) + " s")));
    }
    if (now >= next_ask) {
      asked = now;
      JPROF_TRY(send(FrameType::kPing, "{}"));
    }
  }
}

bool Conversation::knows(std::string_view word) const {
  return std::find(peer_.features.begin(), peer_.features.end(), word) != peer_.features.end();
}

base::Status Conversation::open() {
  const protocol::Hello ours = protocol::our_hello({});
  JPROF_TRY(send(FrameType::kHello, protocol::encode_hello(ours)));
  const auto deadline = Clock::now() + timing_.hello;
  std::optional<Frame> frame;
  while (!frame) {
    JPROF_TRY(on_interrupt(Stage::kOpening));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left <= std::chrono::milliseconds(0)) {
      return base::fail(lost_error(
          base::make_error(ErrorCode::kTimeout, "the sidecar does not answer",
                           "look at the log of container jprof: is `/jprof serve` running?")));
    }
    JPROF_TRY_ASSIGN(frame, next_frame(left, interrupt_.wake_fd(seen_interrupts_)));
  }
  if (frame->type == FrameType::kError) {
    JPROF_TRY_ASSIGN(refusal_, protocol::parse_error(frame->payload));
    return base::fail(to_error(*refusal_));
  }
  if (frame->type != FrameType::kHello) {
    return out_of_place(frame->type);
  }
  JPROF_TRY_ASSIGN(peer_, protocol::parse_hello(frame->payload));
  JPROF_TRY(protocol::choose_protocol(ours, peer_));
  return {};
}

Result<protocol::ResultMessage> Conversation::run(const protocol::Request& request,
                                                  ConversationHandler& handler) {
  Result<protocol::ResultMessage> result = converse(request, handler);
  return result ? std::move(result) : base::fail(after_discard(std::move(result).error()));
}

Result<protocol::ResultMessage> Conversation::converse(const protocol::Request& request,
                                                       ConversationHandler& handler) {
  const std::string word(protocol::request_word(request.kind));
  if (!knows(word)) {
    return base::make_failure(ErrorCode::kProtocol,
                              "the sidecar (" + base::printable(peer_.version) +
                                  ") does not know the request \"" + word + "\"",
                              "upgrade the sidecar's image");
  }
  records_ = request.kind == protocol::RequestKind::kRecord;
  JPROF_TRY(send(FrameType::kRequest, protocol::encode_request(request)));
  if (seen_interrupts_ > 0 && records_) {
    JPROF_TRY(send(FrameType::kCancel, protocol::encode_cancel(protocol::CancelMode::kKeep)));
  }
  std::optional<protocol::ResultMessage> result;
  constexpr std::chrono::nanoseconds kMax = std::chrono::hours(24 * 365);
  auto until = Clock::now() + std::min(work_time(request), kMax) + timing_.overtime;
  for (;;) {
    // Once there is a result, nothing is left to stop: the files only have to arrive.
    JPROF_TRY_ASSIGN(const Frame frame,
                     wait_frame(result ? Stage::kArriving : Stage::kWorking, until));
    switch (frame.type) {
    case FrameType::kProgress: {
      if (result) {
        return out_of_place(frame.type);
      }
      JPROF_TRY_ASSIGN(const protocol::Progress progress, protocol::parse_progress(frame.payload));
      handler.on_progress(progress);
      break;
    }
    case FrameType::kResult: {
      if (result) {
        return out_of_place(frame.type);
      }
      JPROF_TRY_ASSIGN(result, protocol::parse_result(frame.payload));
      if (discard_until_) { // too late to discard it
        return base::make_failure(ErrorCode::kInterrupted,
                                  "interrupted, but the capture was sealed before that");
      }
      JPROF_TRY(handler.on_result(*result));
      until = Clock::now() + timing_.silence;
      break;
    }
    case FrameType::kChunk: {
      if (!result) {
        return out_of_place(frame.type);
      }
      JPROF_TRY_ASSIGN(const protocol::Chunk chunk, protocol::decode_chunk(frame.payload));
      JPROF_TRY(handler.on_chunk(chunk));
      if (!chunk.data.empty()) {
        until = Clock::now() + timing_.silence;
      }
      break;
    }
    case FrameType::kError: {
      JPROF_TRY_ASSIGN(refusal_, protocol::parse_error(frame.payload));
      return base::fail(to_error(*refusal_));
    }
    case FrameType::kEnd:
      if (!result) {
        return out_of_place(frame.type);
      }
      JPROF_TRY(handler.on_end());
      return std::move(*result);
    default:
      return out_of_place(frame.type);
    }
  }
}

void Conversation::release(const std::string& id, std::chrono::milliseconds timeout) {
  protocol::Request request;
  request.kind = protocol::RequestKind::kRelease;
  request.release.id = id;
  if (!knows(protocol::request_word(request.kind)) ||
      !send(FrameType::kRequest, protocol::encode_request(request))) {
    return;
  }
  const auto deadline = Clock::now() + timeout;
  while (Clock::now() < deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const auto frame = next_frame(left, -1);
    if (!frame ||
        (*frame && ((*frame)->type == FrameType::kEnd || (*frame)->type == FrameType::kError))) {
      return;
    }
  }
}

} // namespace jprof::plugin
