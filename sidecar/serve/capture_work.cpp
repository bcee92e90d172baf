// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/capture_work.h"

#include "lib/base/counted.h"
#include "lib/base/encoding.h"
#include "lib/base/timestamp.h"
#include "lib/log/log.h"
#include "lib/protocol/frame.h"
#include "lib/protocol/reply.h"
#include "sidecar/jvm/discovery.h"
#include "sidecar/record/capture_job.h"
#include "sidecar/sandbox/sandbox.h"
#include "sidecar/serve/admission.h"
#include "sidecar/serve/capture_locks.h"
#include "sidecar/serve/capture_process.h"
#include "sidecar/serve/complete_manifest.h"
#include "sidecar/serve/limits_watch.h"
#include "sidecar/spool/file_lock.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <optional>
#include <poll.h>
#include <stop_token>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace jprof::serve {
namespace {

using protocol::FrameType;
using spool::FileLock;
using spool::LockHolder;

constexpr std::size_t kMaxNameLength = 200;
constexpr std::size_t kMaxTextLength = 4096;
constexpr std::uint64_t kRegionRoom = 64 * 1024 * 1024; // the recording region is also a file

// The channel to the connection. The working thread sends, the watcher receives.
class Channel {
 public:
  explicit Channel(base::UniqueFd fd) : fd_(std::move(fd)) {}
  int fd() const { return fd_.get(); }

  // Progress for which there is no room is dropped: the next report says more.
  void progress(const protocol::Progress& progress) const {
    send(FrameType::kProgress, protocol::encode_progress(progress), MSG_DONTWAIT);
  }
  void error(protocol::ErrorMessage message) const {
    message.error.message = base::printable(message.error.message, kMaxTextLength);
    message.error.cure = base::printable(message.error.cure, kMaxTextLength);
    send(FrameType::kError, protocol::encode_error(message), 0);
  }
  void end() const { send(FrameType::kEnd, "{}", 0); }

 private:
  // A connection that has gone away need not be told.
  void send(FrameType type, const std::string& payload, int flags) const {
    const std::string frame = protocol::encode_frame(type, payload);
    static_cast<void>(::send(fd_.get(), frame.data(), frame.size(), flags | MSG_NOSIGNAL));
  }
  base::UniqueFd fd_;
};

// Turns SIGTERM and kCancel into a stop request, on a separate thread because attaching to a JVM
// may block the working one for seconds.
class StopWatcher {
 public:
  explicit StopWatcher(int channel) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    signals_.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    thread_ = std::jthread([this, channel](const std::stop_token& end) { watch(channel, end); });
  }
  std::stop_token token() const { return source_.get_token(); }
  bool discard() const { return discard_.load(); }
  // Empty if the caller asked for the end: that is not a failure.
  std::string why() const {
    return by_signal_.load() ? "the sidecar was told to end (SIGTERM)" : "";
  }

 private:
  void watch(int channel, const std::stop_token& end) {
    std::array<pollfd, 2> fds{{{signals_.get(), POLLIN, 0}, {channel, POLLIN, 0}}};
    while (!end.stop_requested()) {
      constexpr int kLookAtEnd = 200; // ms: only the very end of a capture waits for this
      if (::poll(fds.data(), fds.size(), kLookAtEnd) <= 0) {
        continue;
      }
      if (fds[0].revents != 0) {
        by_signal_ = !source_.stop_requested();
        source_.request_stop();
        fds[0].fd = -1;
      }
      if (fds[1].revents != 0 && !on_packet(channel)) {
        fds[1].fd = -1; // the connection is gone: the capture goes on
      }
    }
  }
  bool on_packet(int channel) {
    std::array<char, kMaxPacketBytes> packet{};
    const ssize_t got = ::recv(channel, packet.data(), packet.size(), MSG_DONTWAIT);
    if (got <= 0) {
      return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    protocol::FrameDecoder decoder;
    decoder.feed({packet.data(), static_cast<std::size_t>(got)});
    const auto frame = decoder.take();
    if (frame && *frame && (*frame)->type == FrameType::kCancel) {
      const auto mode = protocol::parse_cancel((*frame)->payload);
      discard_ = mode && *mode == protocol::CancelMode::kDiscard;
      source_.request_stop();
    }
    return true;
  }

  std::stop_source source_;
  std::atomic<bool> discard_{false};
  std::atomic<bool> by_signal_{false};
  base::UniqueFd signals_;
  std::jthread thread_; // last: it uses the others
};

std::string phase_word(record::CapturePhase phase) {
  switch (phase) {
  case record::CapturePhase::kFinding:
  case record::CapturePhase::kAttaching:
    return "attaching";
  case record::CapturePhase::kRecording:
    return "recording";
  default:
    return "sealing";
  }
}

protocol::Progress progress_of(const std::string& id, const record::CaptureProgress& from) {
  protocol::Progress out{
      id, phase_word(from.phase), from.elapsed, from.duration, from.samples, from.lost, {}};
  for (const record::MethodShare& method : from.hottest) {
    const std::uint64_t whole = std::max<std::uint64_t>(1, from.samples);
    const std::uint64_t permille = std::min<std::uint64_t>(method.samples * 1000 / whole, 1000);
    out.hottest.push_back({base::printable(method.name, kMaxNameLength), method.weight,
                           static_cast<std::uint32_t>(permille)});
  }
  return out;
}

// The steps of one capture, in order; each returns what the caller is told if it fails.
class Work {
 public:
  using Failure = std::optional<protocol::ErrorMessage>;

  Work(ServeContext& context, const protocol::RecordRequest& request, const Channel& channel)
      : context_(context), request_(request), channel_(channel), watcher_(channel.fd()) {
    const auto now = std::chrono::system_clock::now();
    draft_ = draft_manifest(context.config, request, now);
    const auto end =
        std::chrono::duration_cast<std::chrono::system_clock::duration>(request.duration);
    self_ = {request.id, request.requester, base::format_utc(now + end)};
  }

  Failure run() {
    for (const auto step :
         {&Work::take_capture, &Work::take_slot, &Work::take_jvm, &Work::accept, &Work::record}) {
      if (Failure failure = (this->*step)()) {
        log_failure(*failure);
        return failure;
      }
    }
    return std::nullopt;
  }

 private:
  // The last line of a capture that is not sealed: every capture that begins has one, and so has
  // every refusal.
  void log_failure(const protocol::ErrorMessage& failure) const {
    using base::ErrorCode;
    const ErrorCode code = failure.error.code;
    const bool refused = directory_.empty();
    const std::string line = "capture " + request_.id +
                             (refused                         ? " is refused: "
                              : code == ErrorCode::kNotStored ? " is not sealed yet: "
                                                              : " ended, nothing of it is kept: ") +
                             base::printable(failure.error.text(), kMaxTextLength);
    if (refused || code == ErrorCode::kInterrupted) {
      log::info(line);
    } else {
      log::error(line);
    }
  }

  static Failure failed(base::Error error) {
    return protocol::ErrorMessage{std::move(error), "", "", "", ""};
  }

  // Takes one of the spool's locks; `what` says what is busy if somebody else has it.
  Failure take(const std::string& path, const std::string& what) {
    LockHolder holder;
    auto lock = FileLock::try_take(path, self_, &holder);
    if (!lock) {
      return failed(std::move(lock).error());
    }
    if (!*lock) {
      return busy_error(what, holder);
    }
    locks_.push_back(std::move(**lock));
    return std::nullopt;
  }

  Failure take_capture() {
    return take(context_.spool.capture_lock(request_.id), "this capture is running already");
  }

  Failure take_slot() {
    const std::uint64_t most =
        std::max<std::uint64_t>(1, context_.config.limits.concurrent_captures);
    Failure last;
    for (std::uint64_t slot = 0; slot < most; ++slot) {
      last = take(slot_lock(context_.spool, slot), slots_taken(most));
      if (!last) {
        break;
      }
    }
    return last;
  }

  Failure take_jvm() {
    const auto pid =
        request_.pid == 0 ? std::nullopt : std::optional(static_cast<pid_t>(request_.pid));
    auto target = jvm::find_one_jvm(pid, request_.container_id);
    if (!target) {
      return failed(std::move(target).error());
    }
    pid_ = target->pid();
    return take(jvm_lock(context_.spool, *target), jvm_taken(*target));
  }

  Failure accept() {
    const auto now = spool::Moment::now();
    const std::uint64_t bytes = context_.config.limits.capture_bytes;
    if (const auto lines = context_.spool.enforce(bytes, now)) {
      for (const std::string& line : *lines) {
        log::warning(line);
      }
    }
    auto directory = context_.spool.accept(
        draft_, {.bytes = bytes, .captures_per_hour = context_.config.limits.captures_per_hour},
        now.wall);
    if (!directory) {
      return failed(std::move(directory).error());
    }
    directory_ = *directory;
    log::info("capture " + request_.id + " of pid " + std::to_string(pid_) +
              " begins, requested by '" + request_.requester + "' (" + request_.trigger + ")");
    protocol::Progress progress;
    progress.id = request_.id;
    progress.phase = "accepted";
    progress.duration = request_.duration;
    channel_.progress(progress);
    return std::nullopt;
  }

  record::CaptureRequest job() const {
    record::CaptureRequest job;
    job.pid = pid_;
    job.duration = request_.duration;
    if (request_.interval.count() != 0) {
      job.interval = request_.interval;
    }
    job.event = request_.event;
    if (!request_.engine.empty()) {
      job.engine = request_.engine;
    }
    if (!request_.walker.empty()) {
      job.walker = request_.walker;
    }
    job.leave_behind = request_.leave_behind;
    job.force = request_.force;
    job.pod_memory = request_.pod_memory;
    for (const std::string& format : request_.formats) {
      if (format != "jprof" && format != "manifest") {
        job.formats.push_back(format);
      }
    }
    job.directory = directory_;
    job.max_bytes = context_.config.limits.capture_bytes;
    job.sandbox = true;
    job.writable = {context_.spool.directory()};
    const capture::Source& source = draft_.source;
    if (!source.pod.empty()) {
      job.title = source.pod + (source.container.empty() ? "" : " / " + source.container);
    }
    job.agent_file = context_.config.agent_file;
    job.agent_volume = context_.config.agent_volume;
    for (const auto& [name, value] :
         {std::pair("cluster", &source.cluster), std::pair("namespace", &source.namespace_name),
          std::pair("pod", &source.pod), std::pair("container", &source.container),
          std::pair("workload", &source.workload)}) {
      if (!value->empty()) {
        job.facts.emplace_back(name, *value);
      }
    }
    return job;
  }

  Failure record() {
    const auto on_progress = [this](const record::CaptureProgress& progress) {
      channel_.progress(progress_of(request_.id, progress));
    };
    record::CaptureRequest job = this->job();
    job.why_stopped = [this] { return watcher_.why(); };
    auto outcome = record::run_capture(job, on_progress, watcher_.token());
    for (const std::string& changed : {context_.limits_changed, limits_.changes()}) {
      if (outcome && !changed.empty()) {
        outcome->notes.push_back(changed + ": " + kLimitsCure);
      }
    }
    if (!outcome || watcher_.discard()) {
      static_cast<void>(context_.spool.fail(request_.id));
      return failed(
          outcome ? base::make_error(base::ErrorCode::kInterrupted, "the capture was discarded")
                  : std::move(outcome).error());
    }
    if (base::Status sealed = context_.spool.seal(request_.id, complete_manifest(draft_, *outcome));
        !sealed) {
      sealed.error().code = base::ErrorCode::kNotStored;
      return protocol::ErrorMessage{
          std::move(sealed.error())
              .with_context("the capture is recorded, but cannot be sealed")
              .with_cure("make room for the spool: the sidecar tries again every ten minutes, and "
                         "at its next start"),
          request_.id, "", "", ""};
    }
    for (const std::string& missing : outcome->sandbox_missing) {
      log::info("capture " + request_.id + " was read in a weaker sandbox: " + missing);
    }
    log::info("capture " + request_.id +
              " is sealed: " + base::counted(outcome->samples, "sample") +
              (outcome->partial ? ", partial: " + outcome->partial_reason : ""));
    context_.wake(Wake::kSealed);
    return std::nullopt;
  }

  ServeContext& context_;
  const protocol::RecordRequest& request_;
  const Channel& channel_;
  StopWatcher watcher_;
  LimitsWatch limits_;
  capture::Manifest draft_;
  LockHolder self_;
  std::vector<FileLock> locks_;
  std::int32_t pid_ = 0;
  std::string directory_;
};

} // namespace

int run_capture_work(ServeContext& context, const protocol::RecordRequest& request,
                     base::UniqueFd fd) {
  // The capture is bounded by its job's max_bytes; this is for anything else that might write.
  const std::uint64_t file_bytes = std::max(context.config.limits.capture_bytes, kRegionRoom);
  const Channel channel(std::move(fd));
  if (auto limited = limit_this_process(context.memory.capture, file_bytes); !limited) {
    channel.error({std::move(limited).error(), "", "", "", ""});
    return 0;
  }
  sandbox::fence_in(sandbox::Network::kNone); // enter() says what is missing
  Work work(context, request, channel);
  auto failure = work.run();
  if (!failure || failure->busy_id != request.id) { // otherwise the lock is somebody else's
    ::unlink(context.spool.capture_lock(request.id).c_str());
  }
  if (failure) {
    channel.error(std::move(*failure));
  } else {
    channel.end();
  }
  return 0;
}

} // namespace jprof::serve
