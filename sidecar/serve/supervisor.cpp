// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/supervisor.h"

#include "lib/base/counted.h"
#include "lib/base/file.h"
#include "lib/log/log.h"
#include "lib/protocol/frame.h"
#include "lib/protocol/hello.h"
#include "lib/protocol/reply.h"
#include "sidecar/sandbox/sandbox.h"
#include "sidecar/serve/connection.h"
#include "sidecar/serve/guarded.h"
#include "sidecar/serve/places.h"
#include "sidecar/serve/socket.h"
#include "sidecar/serve/upload.h"
#include "sidecar/spool/file_lock.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace jprof::serve {
namespace {

using namespace std::chrono_literals;
using base::Deadline;

constexpr auto kUpkeepEvery = 10min;
constexpr auto kUpkeepAgain = 5s;
constexpr auto kForkRetry = 5s;
constexpr auto kBlockedRetry = 10min;
constexpr auto kRecoveryTime = 60s; // callers wait for this
constexpr auto kQuiet = 1min;       // between two lines about refused callers

base::UniqueFd supervisor_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int one : {SIGTERM, SIGINT, SIGCHLD}) {
    sigaddset(&signals, one);
  }
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return base::UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

// For a caller who cannot be served: sent without reading a byte from it.
void refuse(int fd, const base::Error& error) {
  const std::string text = protocol::encode_frame(protocol::FrameType::kHello,
                                                  protocol::encode_hello(protocol::our_hello({}))) +
                           protocol::encode_frame(protocol::FrameType::kError,
                                                  protocol::encode_error({error, "", "", "", ""}));
  static_cast<void>(::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

// How an upkeep ended, as the exit code of its process.
enum class UpkeepResult {
  kDone = 0,
  kAgain = 1, // a serve before us may have left a capture that runs: who records it may end badly
  kFailed = 2,
};

UpkeepResult upkeep(spool::Spool& spool, Upkeep what) {
  const auto now = spool::Moment::now();
  auto lines = what == Upkeep::kRecover ? spool.recover(now.wall)
                                        : base::Result<std::vector<std::string>>(
                                              spool.salvage_left("the capture's process ended"));
  auto more = spool.enforce(0, now);
  for (const auto* result : {&lines, &more}) {
    if (!*result) {
      log::error("spool: " + result->error().text());
      continue;
    }
    for (const std::string& line : **result) {
      log::warning(line);
    }
  }
  if (!lines) {
    return UpkeepResult::kFailed;
  }
  return what != Upkeep::kRoutine && !spool.list(spool::Place::kIncoming).empty()
             ? UpkeepResult::kAgain
             : UpkeepResult::kDone;
}

} // namespace

base::Result<Supervisor> Supervisor::create(config::SidecarConfig config,
                                            const ServeOptions& options) {
  // Spool::own says what is wrong with it.
  static_cast<void>(base::make_directories(config.spool.directory, 0700));
  const std::uint64_t limit = container_memory_limit();
  const std::uint64_t held_in_memory = bound_spool_in_memory(config, limit);
  JPROF_TRY_ASSIGN(spool::Spool spool, spool::Spool::own(config.spool));
  JPROF_TRY_ASSIGN(Listener listener, Listener::create(socket_path(config)));
  const MemoryPlan memory = plan_memory(limit - held_in_memory, config.limits.concurrent_captures);
  return Supervisor(ServeContext{std::move(config),
                                 std::move(spool),
                                 memory,
                                 options.idle_exit.count() > 0,
                                 -1,
                                 options.broken,
                                 {}},
                    options, std::move(listener));
}

Supervisor::Supervisor(ServeContext context, const ServeOptions& options, Listener listener)
    : context_(std::move(context)), options_(options), listener_(std::move(listener)),
      signals_(supervisor_signals()), next_upkeep_(Deadline::after(kUpkeepEvery)),
      idle_until_(Deadline::after(options.idle_exit)) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    wake_reader_.reset(ends[0]);
    wake_writer_.reset(ends[1]);
    context_.wake_fd = ends[1];
  }
  // A limit that somebody lowers must fail a call, not end us.
  std::signal(SIGUSR1, SIG_IGN); // a connection blocks it, and so has it all the same
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGXCPU, SIG_IGN);
  // We reap our orphans, too, even if we are not PID 1.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Captures are stopped through the group: their connection may have gone before them.
  static_cast<void>(::setpgid(0, 0)); // fails where we lead a session: then we lead a group, too
}

std::string_view Supervisor::kind_word(Kind kind) {
  switch (kind) {
  case Kind::kConnection:
    return "a caller";
  case Kind::kUpload:
    return "uploads";
  case Kind::kUpkeep:
    return "the spool's upkeep";
  }
  return "";
}

template <typename Work>
base::Status Supervisor::start(Kind kind, const Work& work) {
  const pid_t child = ::fork();
  if (child < 0) {
    base::Error error =
        base::errno_error(errno, "cannot start a process for " + std::string(kind_word(kind)))
            .with_cure("the container or its user has too many processes, or too little memory: "
                       "raise its limits");
    log::error(error.text());
    return base::fail(std::move(error));
  }
  if (child == 0) {
    listener_.leave_to_parent();
    context_.spool.leave_to_owner(); // the next serve must not wait for what outlives this one
    signals_.reset();
    wake_reader_.reset();
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::_exit(guarded(work));
  }
  children_[child] = kind;
  if (kind == Kind::kConnection) {
    places_.take(child);
  }
  return {};
}

// A waiting caller is let in once one for which nothing is in progress has left.
bool Supervisor::makes_room() {
  return count(Kind::kConnection) >= kMaxConnections && places_.make_room();
}

void Supervisor::accept_caller() {
  auto accepted = listener_.accept();
  if (!accepted) {
    return;
  }
  base::UniqueFd caller = std::move(accepted->fd);
  if (auto peer = check_peer(caller.get()); !peer) {
    log::warning("a caller is refused: " + peer.error().message);
    return;
  }
  if (accepted->is_last) {
    refuse(
        caller.get(),
        base::make_error(base::ErrorCode::kUnavailable,
                         "this sidecar has no file descriptor left to serve a caller with",
                         "raise the limit on open files, or restart the jprof container; its log "
                         "says more"));
    return;
  }
  if (count(Kind::kConnection) >= kMaxConnections) {
    if (!quiet_until_ || quiet_until_->expired()) {
      quiet_until_ = Deadline::after(kQuiet);
      log::warning("a caller is refused: something is in progress for each of the " +
                   std::to_string(kMaxConnections) + " that there may be");
    }
    refuse(caller.get(),
           base::make_error(base::ErrorCode::kBusy, "this sidecar has too many callers",
                            "try again in a minute"));
    return;
  }
  IdleSince* const idle_since = places_.offer();
  auto started = start(Kind::kConnection, [this, &caller, idle_since] {
    if (!limit_this_process(context_.memory.connection, 0)) {
      return 1;
    }
    sandbox::fence_in(sandbox::Network::kListen);
    Connection(context_, std::move(caller), idle_since).run();
    return 0;
  });
  if (!started) {
    started.error().code = base::ErrorCode::kUnavailable;
    refuse(caller.get(), started.error());
  }
}

void Supervisor::start_upload() {
  next_upload_.reset();
  upload_wanted_ = false;
  const auto started = start(Kind::kUpload, [this] {
    static_cast<void>(limit_this_process(context_.memory.upload, 0));
    // A serve before us may have left one that is still running. No lock (a full disk) must not
    // keep captures from being stored: each is stored only once anyway, this only saves the work.
    const auto lock = spool::FileLock::try_take(context_.spool.lock_path("upload"), {});
    if (lock && !*lock) {
      return static_cast<int>(UploadResult::kRetry);
    }
    const auto store = open_store(*context_.config.store, {});
    if (!store) {
      log::error("store: " + store.error().text());
      return static_cast<int>(UploadResult::kBlocked);
    }
    return static_cast<int>(
        deliver_pending(context_.spool, **store,
                        backoff_.has_failed() ? Round::kAfterFailure : Round::kOldestFirst));
  });
  if (!started) {
    next_upload_ = Deadline::after(kForkRetry);
  }
}

void Supervisor::start_upkeep() {
  const auto started = start(Kind::kUpkeep, [this] {
    sandbox::fence_in(sandbox::Network::kNone);
    return static_cast<int>(upkeep(context_.spool, upkeep_));
  });
  next_upkeep_ = Deadline::after(started ? std::chrono::nanoseconds(kUpkeepEvery)
                                         : std::chrono::nanoseconds(kForkRetry));
  ready_ = ready_ || !started; // callers are told rather than kept waiting
}

std::size_t Supervisor::count(Kind kind) const {
  return static_cast<std::size_t>(
      std::count_if(children_.begin(), children_.end(),
                    [kind](const auto& child) { return child.second == kind; }));
}

bool Supervisor::is_running(Kind kind) const {
  return count(kind) > 0;
}

// Deliveries and callers wait for the first attempt to recover, not for its success: both can work
// with what is there, and a delivery may be what makes room for the next attempt.
void Supervisor::on_upkeep_end(int code) {
  ready_ = true;
  upload_wanted_ = true; // a capture that it salvaged, or that an orphan sealed, told nobody
  const bool done = code == static_cast<int>(UpkeepResult::kDone);
  const bool again = code == static_cast<int>(UpkeepResult::kAgain);
  if (!done) {
    next_upkeep_ = Deadline::after(kUpkeepAgain);
  }
  if (done || again) { // otherwise what was to be recovered still is
    upkeep_ = again ? Upkeep::kFollow : Upkeep::kRoutine;
  }
}

void Supervisor::on_end(Kind kind, int status) {
  if (WIFSIGNALED(status) && !stopping_) {
    log::error("the process for " + std::string(kind_word(kind)) + " was killed by signal " +
               std::to_string(WTERMSIG(status)));
  }
  idle_until_ = Deadline::after(options_.idle_exit);
  if (kind == Kind::kConnection) {
    upload_wanted_ = true;
  } else if (kind == Kind::kUpkeep) {
    on_upkeep_end(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    backoff_.succeeded();
  } else {
    const bool blocked =
        WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(UploadResult::kBlocked);
    const auto delay = backoff_.next();
    next_upload_ = Deadline::after(blocked ? std::chrono::milliseconds(kBlockedRetry) : delay);
  }
}

void Supervisor::reap() {
  int status = 0;
  for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0;
       pid = ::waitpid(-1, &status, WNOHANG)) {
    const auto found = children_.find(pid);
    if (found != children_.end()) { // otherwise an orphan that we inherited
      const Kind kind = found->second;
      children_.erase(found);
      places_.leave(pid);
      on_end(kind, status);
    }
  }
}

void Supervisor::on_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    stopping_ |= info.ssi_signo != SIGCHLD;
  }
  reap();
}

void Supervisor::on_wake() {
  std::array<char, 64> bytes{};
  ssize_t got = 0;
  while ((got = ::read(wake_reader_.get(), bytes.data(), bytes.size())) > 0) {
    const std::string_view told(bytes.data(), static_cast<std::size_t>(got));
    stopping_ |= told.find(static_cast<char>(Wake::kQuit)) != std::string_view::npos;
  }
  upload_wanted_ = true;
  next_upload_.reset(); // something new: try at once
}

// At least once a minute (Deadline::poll_milliseconds), and before each caller is served.
void Supervisor::look_at_limits() {
  std::string changes = limits_.changes();
  if (changes == context_.limits_changed) {
    return;
  }
  if (changes.empty()) {
    log::info("the limits of jprof serve are back to what they were");
  } else {
    log::error(changes + ": " + kLimitsCure);
  }
  context_.limits_changed = std::move(changes);
}

void Supervisor::on_time() {
  const bool can_upload = context_.config.store && ready_ && !is_running(Kind::kUpload);
  const bool due = next_upload_ ? next_upload_->expired() : upload_wanted_;
  if (can_upload && due) {
    start_upload();
  }
  if (next_upkeep_.expired() && !is_running(Kind::kUpkeep)) {
    start_upkeep();
  }
  if (!children_.empty()) {
    idle_until_ = Deadline::after(options_.idle_exit);
  } else if (options_.idle_exit.count() > 0 && idle_until_.expired() && !next_upload_) {
    log::info("nobody has called for a while: exiting");
    stopping_ = true;
  }
}

int Supervisor::poll_timeout() const {
  Deadline soonest = next_upkeep_;
  if (next_upload_ && !is_running(Kind::kUpload)) {
    soonest = soonest.sooner(*next_upload_);
  }
  if (options_.idle_exit.count() > 0 && children_.empty()) {
    soonest = soonest.sooner(idle_until_);
  }
  if (const auto awaited = places_.awaited()) {
    soonest = soonest.sooner(*awaited);
  }
  if (const auto resting = listener_.resting_until()) {
    soonest = soonest.sooner(*resting);
  }
  return soonest.poll_milliseconds();
}

void Supervisor::run() {
  start_upkeep();
  const Deadline recovery = Deadline::after(kRecoveryTime);
  while (!stopping_) {
    const bool accepts = (ready_ || recovery.expired()) && !places_.awaited();
    std::array<pollfd, 3> fds{{{signals_.get(), POLLIN, 0},
                               {wake_reader_.get(), POLLIN, 0},
                               {accepts ? listener_.fd() : -1, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), poll_timeout()) < 0 && errno != EINTR) {
      log::error(base::errno_error(errno, "poll").message);
    }
    look_at_limits();
    if (fds[0].revents != 0) {
      on_signals();
    }
    if (fds[1].revents != 0) {
      on_wake();
    }
    if (fds[2].revents != 0 && !stopping_ && !makes_room()) {
      accept_caller();
    }
    on_time();
  }
  shut_down();
}

// Captures whose connection died are children, too, though not in our list.
void Supervisor::wait_for_children(Deadline deadline) {
  siginfo_t info{};
  while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !deadline.expired()) {
    pollfd fd{signals_.get(), POLLIN, 0};
    ::poll(&fd, 1, deadline.poll_milliseconds());
    on_signals();
  }
}

void Supervisor::shut_down() {
  const Deadline deadline = Deadline::after(context_.config.shutdown_grace);
  ::unlink(socket_path(context_.config).c_str());
  listener_.close();
  ::kill(0, SIGTERM); // the group: connections, captures and uploads; ours is blocked
  wait_for_children(deadline);
  if (context_.config.store && !deadline.expired() &&
      !context_.spool.list(spool::Place::kSealed).empty()) {
    start_upload();
    wait_for_children(deadline);
  }
  for (const auto& [pid, kind] : children_) {
    ::kill(pid, SIGKILL); // what is sealed is safe; what is not is salvaged by the next start
  }
  report_pending();
}

void Supervisor::report_pending() const {
  const std::size_t pending = context_.spool.list(spool::Place::kSealed).size();
  if (pending == 0) {
    return;
  }
  const std::string text = base::counted(pending, "capture") + (pending == 1 ? " is" : " are") +
                           " still in the spool " + context_.spool.directory() +
                           ": lost if the pod is deleted";
  log::warning(text);
  // Where Kubernetes looks for a termination message (container status, terminated.message); absent
  // elsewhere.
  const base::UniqueFd fd(::open("/dev/termination-log", O_WRONLY | O_CLOEXEC));
  if (fd) {
    static_cast<void>(base::write_all(fd.get(), "jprof: " + text + "\n", "termination-log"));
  }
}

} // namespace jprof::serve
