// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/connection.h"

#include "lib/base/duration.h"
#include "lib/base/timestamp.h"
#include "lib/capture/bundle.h"
#include "lib/log/log.h"
#include "lib/protocol/hello.h"
#include "sidecar/sandbox/sandbox.h"
#include "sidecar/serve/admission.h"
#include "sidecar/serve/limits_watch.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>
#include <utility>

namespace jprof::serve {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::ErrorCode;
using protocol::FrameType;

constexpr auto kHelloTime = 15s;
constexpr auto kIdleTime = 30s;  // there are few places: none is held for nothing
constexpr auto kStallTime = 60s; // without a byte taken by the caller
constexpr auto kTick = 200ms;    // of waiting for another connection's capture
constexpr auto kLeaveTime = 3s;  // after SIGTERM, once the capture is sealed

base::UniqueFd termination_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return base::UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

} // namespace

Connection::Connection(ServeContext& context, base::UniqueFd socket, IdleSince* idle_since)
    : context_(context), idle_since_(idle_since), stream_(std::move(socket)),
      signals_(termination_signals()), deadline_(Deadline::after(kHelloTime)),
      next_tick_(Deadline::after(kTick)) {
  stream_.send(FrameType::kHello,
               protocol::encode_hello(protocol::our_hello(
                   {"record", "fetch", "list", "targets", "release", "attach", "quit"})));
}

void Connection::run() {
  while (state_ != State::kDone) {
    poll_once();
  }
  static_cast<void>(stream_.flush());
  if (quit_) {
    context_.wake(Wake::kQuit);
  }
}

int Connection::poll_timeout() const {
  if (state_ == State::kWaiting) {
    return next_tick_.sooner(deadline_).poll_milliseconds();
  }
  return state_ == State::kCapturing || state_ == State::kAsking ? -1
                                                                 : deadline_.poll_milliseconds();
}

void Connection::poll_once() {
  const std::size_t queued = stream_.pending();
  std::array<pollfd, 3> fds{{{stream_.fd(), 0, 0}, {signals_.get(), POLLIN, 0}, {-1, POLLIN, 0}}};
  if (!caller_here_) {
    fds[0].fd = -1;
  } else {
    // While files are being sent nothing is read: the caller has to take them first.
    const bool reads = !caller_reads_only_ && state_ != State::kSending;
    fds[0].events =
        static_cast<short>((reads ? POLLIN : 0) | (queued > 0 || sender_ ? POLLOUT : 0));
  }
  if (capture_) {
    fds[2].fd = capture_->fd();
  } else if (attach_) {
    fds[2].fd = attach_->fd();
  }
  ::poll(fds.data(), fds.size(), poll_timeout());
  if (fds[1].revents != 0) {
    on_signal();
  }
  if (fds[2].revents != 0 && capture_) {
    on_capture();
  } else if (fds[2].revents != 0) {
    on_answer();
  }
  if ((fds[0].revents & POLLIN) != 0) {
    on_readable();
  } else if ((fds[0].revents & (POLLHUP | POLLERR)) != 0) {
    caller_gone();
  }
  pump();
  if (caller_here_ && !stream_.flush()) {
    caller_gone();
  }
  // Only a caller that is being sent something gets more time for what it takes: one that has its
  // answer, or stalls in the middle of a frame, gets only what its state allows.
  const bool taking = queued > 0 && stream_.pending() != queued;
  if (taking && (state_ == State::kSending || (state_ == State::kIdle && stream_.pending() > 0))) {
    deadline_ = Deadline::after(leaving_ ? kLeaveTime : kStallTime);
  } else if (taking && state_ == State::kIdle && !is_last()) {
    deadline_ = Deadline::after(kIdleTime);
  }
  on_tick();
  note_idleness();
}

// A caller that still has to take an answer is not idle.
bool Connection::is_idle() const {
  return (state_ == State::kHello || state_ == State::kIdle) && stream_.pending() == 0;
}

void Connection::note_idleness() {
  if (idle_since_ != nullptr && is_idle() && *idle_since_ == 0) {
    *idle_since_ = idle_clock();
  }
}

void Connection::on_tick() {
  if (state_ == State::kWaiting && next_tick_.expired()) {
    next_tick_ = Deadline::after(kTick);
    look_at_waited();
  }
  const bool said_all = state_ == State::kIdle && is_last() && stream_.pending() == 0;
  if (state_ == State::kWaiting && deadline_.expired()) {
    send_error(protocol::ErrorMessage{
        base::make_error(ErrorCode::kTimeout, "capture " + waited_id_ + " does not end"),
        waited_id_, "", "", ""});
  }
  const bool at_work = state_ == State::kCapturing || state_ == State::kAsking;
  if (said_all || (!at_work && deadline_.expired())) {
    state_ = State::kDone;
  }
}

void Connection::on_signal() {
  signalfd_siginfo info{};
  [[maybe_unused]] const ssize_t got = ::read(signals_.get(), &info, sizeof info);
  if (info.ssi_signo == SIGUSR1) {
    give_place();
    return;
  }
  leaving_ = true;
  deadline_ = Deadline::after(kLeaveTime);
  // The capture's process gets the signal, too: it belongs to serve's process group.
  if (capture_) {
    capture_->cancel(protocol::CancelMode::kKeep);
  } else if (attach_) {
    attach_->stop();
  }
  if (state_ == State::kIdle || state_ == State::kHello || state_ == State::kWaiting) {
    send_error(base::make_error(ErrorCode::kUnavailable, "the sidecar is shutting down",
                                "try again when the pod is up"));
    state_ = State::kDone;
  }
}

// The supervisor looked a moment ago: what has been requested since is answered.
void Connection::give_place() {
  if (pollfd caller{stream_.fd(), POLLIN, 0};
      is_idle() && ::poll(&caller, 1, 0) > 0 && (caller.revents & POLLIN) != 0) {
    on_readable();
  }
  if (idle_since_ == nullptr || *idle_since_ == 0 || !is_idle()) {
    return;
  }
  const std::chrono::nanoseconds idle(idle_clock() - *idle_since_);
  log::info("a caller that has asked for nothing for " + base::format_duration(idle) +
            " loses its place, because another caller would find none");
  send_error(base::make_error(
      ErrorCode::kBusy, "another caller needs this place, and nothing is in progress for this one",
      "connect again and send the request at once"));
  state_ = State::kDone;
}

void Connection::caller_gone() {
  caller_here_ = false;
  if (attach_) {
    attach_->stop(); // and wait for it: a heap dump is to be removed
  } else if (state_ != State::kCapturing) {
    state_ = State::kDone;
  }
}

void Connection::on_readable() {
  const auto more = stream_.receive();
  for (;;) {
    auto frame = stream_.take();
    if (!frame) {
      break_off(std::move(frame).error());
      return;
    }
    if (!*frame) {
      break;
    }
    on_frame(**frame);
  }
  if (!more) {
    caller_gone();
  } else if (!*more) {
    // It will send nothing more, but may still listen (`session` with its input at an end).
    caller_reads_only_ = true;
    if (state_ == State::kIdle || state_ == State::kHello) {
      state_ = State::kDone;
    }
  }
}

void Connection::on_frame(const protocol::Frame& frame) {
  if (frame.type == FrameType::kPing) {
    stream_.send(FrameType::kPong, frame.payload);
  } else if (frame.type == FrameType::kPong) {
    return;
  } else if (state_ == State::kHello) {
    on_hello(frame);
  } else if (frame.type == FrameType::kRequest && state_ == State::kIdle) {
    on_request(frame);
  } else if (frame.type == FrameType::kCancel) {
    const auto mode = protocol::parse_cancel(frame.payload);
    if (capture_) { // too late otherwise: the result is on its way
      capture_->cancel(mode ? *mode : protocol::CancelMode::kKeep);
    } else if (attach_) {
      attach_->stop();
    } else if (state_ == State::kWaiting) {
      send_error(base::make_error(ErrorCode::kInterrupted, "no longer waiting for the capture"));
    }
  } else if (frame.type == FrameType::kError) {
    caller_gone();
  } else {
    break_off(base::make_error(ErrorCode::kProtocol, "a frame of type " +
                                                         protocol::frame_type_name(frame.type) +
                                                         " is not expected now"));
  }
}

// The conversation cannot continue; a running capture can, and can be fetched by the id that is
// named here.
void Connection::break_off(base::Error error) {
  const std::string id = state_ == State::kCapturing ? request_.record.id
                         : state_ == State::kWaiting ? waited_id_
                                                     : std::string();
  stream_.send(FrameType::kError, protocol::encode_error({std::move(error), id, "", "", ""}));
  static_cast<void>(stream_.flush());
  caller_gone();
}

void Connection::on_hello(const protocol::Frame& frame) {
  auto hello = frame.type == FrameType::kHello
                   ? protocol::parse_hello(frame.payload)
                   : base::Result<protocol::Hello>(base::make_failure(
                         ErrorCode::kProtocol, "the first frame is not a hello"));
  base::Status agreed;
  if (!hello) {
    agreed = base::fail(std::move(hello).error());
  } else if (auto version = protocol::choose_protocol(protocol::our_hello({}), *hello); !version) {
    agreed = base::fail(std::move(version).error());
  }
  state_ = State::kIdle;
  deadline_ = Deadline::after(kIdleTime);
  if (!agreed) {
    break_off(std::move(agreed).error());
  }
}

void Connection::on_request(const protocol::Frame& frame) {
  if (idle_since_ != nullptr) {
    *idle_since_ = 0;
  }
  auto request = protocol::parse_request(frame.payload);
  if (!request) {
    send_error(std::move(request).error());
    return;
  }
  request_ = std::move(*request);
  switch (request_.kind) {
  case protocol::RequestKind::kRecord:
    on_record(request_.record);
    break;
  case protocol::RequestKind::kFetch:
    on_fetch(request_.fetch);
    break;
  case protocol::RequestKind::kRelease:
    on_release(request_.release);
    break;
  case protocol::RequestKind::kAttach:
    on_attach(request_.attach);
    break;
  case protocol::RequestKind::kQuit:
    on_quit();
    break;
  case protocol::RequestKind::kList:
    start_sending(Reply{list_reply(context_.spool), ""});
    break;
  case protocol::RequestKind::kTargets: {
    // Of the requests that follow, only one to attach to OpenJ9 would miss it, and nobody asks for
    // that.
    sandbox::fence_in(sandbox::Network::kNone);
    auto result = targets_reply(context_, request_.targets);
    start_sending(result ? base::Result<Reply>(Reply{std::move(*result), ""})
                         : base::fail(std::move(result).error()));
  }
  }
}

void Connection::on_record(const protocol::RecordRequest& request) {
  if (context_.broken) {
    send_error(*context_.broken);
    return;
  }
  if (auto checked = check_request(context_.config, request); !checked) {
    send_error(std::move(checked).error());
    return;
  }
  const spool::Entry entry = context_.spool.find(request.id);
  if (entry.place == spool::Place::kIncoming) {
    wait_for(request.id);
    return;
  }
  if (entry.place != spool::Place::kNone) {
    send_entry(entry);
    return;
  }
  auto started = CaptureProcess::start(context_, request);
  if (!started) {
    send_error(std::move(started).error());
    return;
  }
  capture_ = std::move(*started);
  state_ = State::kCapturing;
}

void Connection::on_fetch(const protocol::FetchRequest& request) {
  const spool::Entry entry = context_.spool.find(request.id);
  if (entry.place == spool::Place::kNone) {
    send_error(base::make_error(ErrorCode::kTargetNotFound,
                                "this sidecar has no capture '" + request.id + "'",
                                "it may have been delivered or removed: see the list of captures"));
  } else if (entry.place != spool::Place::kIncoming) {
    send_entry(entry);
  } else if (request.wait) {
    wait_for(request.id);
  } else {
    send_error({base::make_error(ErrorCode::kBusy, "the capture is still being recorded",
                                 "fetch it when it has ended"),
                request.id, "", request.id, ""});
  }
}

void Connection::on_capture() {
  auto frame = capture_->receive();
  if (!frame) {
    on_capture_died();
    return;
  }
  if (!*frame) {
    return;
  }
  if ((*frame)->type == FrameType::kProgress) {
    if (caller_here_ && stream_.pending() < protocol::kMaxPayloadBytes) {
      stream_.send(FrameType::kProgress, (*frame)->payload);
    }
    return;
  }
  capture_->reap();
  capture_.reset();
  if ((*frame)->type == FrameType::kEnd) {
    send_entry(context_.spool.find(request_.record.id));
    return;
  }
  auto message = protocol::parse_error((*frame)->payload);
  on_capture_failed(message ? std::move(*message)
                            : protocol::ErrorMessage{message.error(), "", "", "", ""});
}

void Connection::on_capture_failed(protocol::ErrorMessage message) {
  const bool same = message.busy_id == request_.record.id;
  if (message.error.code == ErrorCode::kBusy && !message.busy_id.empty() &&
      (same || request_.record.join)) {
    wait_for(message.busy_id);
    return;
  }
  send_error(std::move(message));
}

void Connection::on_capture_died() {
  const WorkerEnd end = capture_->reap();
  capture_.reset();
  const std::string& id = request_.record.id;
  base::Error error = error_of("the recorder", end);
  log::error("capture " + id + ": " + error.message);
  static_cast<void>(salvage(id, error.message)); // unless it had sealed it before it died
  const spool::Entry entry = context_.spool.find(id);
  if (entry.place == spool::Place::kNone || entry.place == spool::Place::kIncoming) {
    error.message += "; nothing could be kept";
    send_error(std::move(error));
    return;
  }
  send_entry(entry);
}

void Connection::send_entry(const spool::Entry& entry) {
  if (entry.place == spool::Place::kQuarantine) {
    send_error(
        base::make_error(ErrorCode::kInvalidData,
                         "capture " + entry.id + " is damaged; its files are kept in quarantine"));
    return;
  }
  if (request_.kind == protocol::RequestKind::kFetch) {
    if (auto whole = capture::verify_bundle(entry.directory);
        !whole && whole.error().code == ErrorCode::kInvalidData) {
      static_cast<void>(context_.spool.quarantine(entry.id, whole.error().message));
      send_error(std::move(whole).error());
      return;
    }
    start_sending(reply_by_name(entry, request_.fetch));
    return;
  }
  const std::vector<std::string> none;
  start_sending(
      reply_by_format(entry, request_.record.send_files ? request_.record.formats : none));
}

void Connection::start_sending(base::Result<Reply> reply) {
  if (!reply) {
    send_error(std::move(reply).error());
    return;
  }
  std::string payload = protocol::encode_result(reply->result);
  if (payload.size() > protocol::kMaxPayloadBytes) {
    send_error(base::make_error(ErrorCode::kInternal, "the result is too large for a frame"));
    return;
  }
  if (!caller_here_) {
    finish_request();
    return;
  }
  stream_.send(FrameType::kResult, payload);
  begin_sending(FileSender(std::move(reply->directory), std::move(reply->result.files)));
}

void Connection::begin_sending(FileSender sender) {
  sender_.emplace(std::move(sender));
  state_ = State::kSending;
  deadline_ = Deadline::after(leaving_ ? kLeaveTime : kStallTime);
}

void Connection::pump() {
  if (state_ != State::kSending || !sender_) {
    return;
  }
  auto done = sender_->pump(stream_);
  if (!done) {
    send_error(std::move(done).error());
    return;
  }
  if (*done) {
    sender_.reset();
    stream_.send(FrameType::kEnd, "{}");
    finish_request();
  }
}

void Connection::send_error(base::Error error) {
  send_error({std::move(error), "", "", "", ""});
}

void Connection::send_error(protocol::ErrorMessage message) {
  sender_.reset();
  if (!context_.limits_changed.empty()) { // which is most likely the reason
    message.error.cure +=
        (message.error.cure.empty() ? "" : "; ") + context_.limits_changed + ": " + kLimitsCure;
  }
  if (caller_here_) {
    stream_.send(FrameType::kError, protocol::encode_error(message));
  }
  finish_request();
}

void Connection::finish_request() {
  state_ = caller_here_ ? State::kIdle : State::kDone; // what is queued is flushed in kIdle
  deadline_ = Deadline::after(leaving_    ? std::chrono::nanoseconds(kLeaveTime)
                              : is_last() ? std::chrono::nanoseconds(kStallTime)
                                          : std::chrono::nanoseconds(kIdleTime));
}

} // namespace jprof::serve
