// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/capture_run.h"

#include <algorithm>
#include <poll.h>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;
using Clock = std::chrono::steady_clock;

const std::string& id_of(const protocol::Request& request) {
  return request.kind == protocol::RequestKind::kRecord ? request.record.id : request.fetch.id;
}

// What a new connection can cure: the network and a server that restarts, but not an answer. An API
// server that has just started knows neither roles nor tokens for a moment, and refuses users that
// it accepted before.
bool is_passing(const base::Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout ||
         error.code == ErrorCode::kForbidden || error.code == ErrorCode::kUnauthenticated;
}

Clock::time_point end_of(const protocol::Request& request) {
  constexpr std::chrono::hours kMax{24 * 365};
  return Clock::now() + std::min<Clock::duration>(request.record.duration, kMax);
}

} // namespace

class CaptureRun::Handler final : public ConversationHandler {
 public:
  Handler(CaptureRun& run, ReceivedFiles& files) : run_(run), files_(files) {}

  void on_progress(const protocol::Progress& progress) override {
    run_.accepted_ = true;
    run_.moved_ = true;
    run_.on_progress_(progress);
  }
  base::Status on_result(const protocol::ResultMessage& result) override {
    run_.accepted_ = true;
    run_.moved_ = true;
    return files_.begin(result);
  }
  base::Status on_chunk(const protocol::Chunk& chunk) override { return files_.add(chunk); }
  base::Status on_end() override { return files_.finish(); }

 private:
  CaptureRun& run_;
  ReceivedFiles& files_;
};

CaptureRun::CaptureRun(ChannelFactory open, const Interrupt& interrupt,
                       ProgressCallback on_progress, Options options)
    : open_(std::move(open)), interrupt_(interrupt), on_progress_(std::move(on_progress)),
      options_(std::move(options)) {}

Result<protocol::ResultMessage> CaptureRun::attempt(const protocol::Request& request,
                                                    ReceivedFiles& files) {
  moved_ = false;
  refused_ = false;
  const int seen = interrupt_.count();
  if (seen > 1 || (seen > 0 && !accepted_)) {
    lost_ = false;
    return base::make_failure(ErrorCode::kInterrupted,
                              accepted_ ? "interrupted without a connection: the capture goes on"
                                        : "interrupted, nothing kept");
  }
  lost_ = true; // until there is a conversation
  JPROF_TRY_ASSIGN(std::unique_ptr<ByteChannel> channel, open_(interrupt_.wake_fd(seen)));
  conversation_ = std::make_unique<Conversation>(std::move(channel), interrupt_, seen);
  if (base::Status opened = conversation_->open(); !opened) {
    lost_ = conversation_->lost();
    return base::fail(std::move(opened).error());
  }
  protocol::Request now = request;
  if (files.started()) {
    now.kind = protocol::RequestKind::kFetch;
    now.fetch = files.resume_request(id_of(request));
  }
  Handler handler(*this, files);
  Result<protocol::ResultMessage> result = conversation_->run(now, handler);
  lost_ = conversation_->lost();
  // A refusal that names the capture means that it exists; a refusal by a sidecar that is shutting
  // down means nothing.
  if (!result && conversation_->refusal()) {
    const bool named = conversation_->refusal()->id == id_of(request);
    accepted_ = accepted_ || named;
    refused_ = !named && result.error().code != ErrorCode::kUnavailable;
  }
  refused_ = refused_ || conversation_->discarded();
  return result;
}

void CaptureRun::release() {
  if (conversation_ && !capture_id_.empty()) {
    conversation_->release(capture_id_, std::chrono::milliseconds(1000));
  }
}

bool CaptureRun::pause(std::chrono::milliseconds delay) const {
  // After the first interrupt its descriptor stays readable: from then on the second one counts.
  pollfd wanted{interrupt_.wake_fd(interrupt_.count()), POLLIN, 0};
  return ::poll(&wanted, 1, static_cast<int>(delay.count())) <= 0 && interrupt_.count() < 2;
}

base::Error CaptureRun::with_hint(base::Error error) const {
  if (accepted_ && !refused_ && !options_.fetch_hint.empty()) {
    // An interrupt with a cure is one whose effect is unknown.
    const bool unsure = error.code == ErrorCode::kInterrupted && !error.cure.empty();
    error.cure = (unsure ? "if the pod has kept the capture, this fetches it: "
                         : "the capture is kept in the pod: ") +
                 options_.fetch_hint + " " + capture_id_;
  }
  return error;
}

Result<protocol::ResultMessage> CaptureRun::run(const protocol::Request& request,
                                                ReceivedFiles& files) {
  capture_id_ = id_of(request);
  const auto patient_until = end_of(request) + options_.patience;
  std::uint64_t seen_bytes = 0;
  int failures = 0;
  auto delay = options_.first_delay;
  for (;;) {
    Result<protocol::ResultMessage> result = attempt(request, files);
    if (result) {
      return result;
    }
    if (moved_) {
      failures = 0;
      delay = options_.first_delay;
    }
    const bool grew = files.bytes() > seen_bytes;
    seen_bytes = std::max(seen_bytes, files.bytes());
    const bool patient = grew || Clock::now() < patient_until;
    // Until the sidecar has heard of the capture, nothing is lost by reporting the failure at once.
    const bool again = accepted_ && lost_ && is_passing(result.error()) && patient &&
                       failures++ < options_.reconnects;
    if (!again || !pause(delay)) {
      return base::fail(with_hint(std::move(result).error()));
    }
    delay *= 2;
  }
}

} // namespace jprof::plugin
