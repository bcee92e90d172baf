// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/attach_socket.h"

#include "lib/base/local_socket.h"
#include "sidecar/container/access.h"
#include "sidecar/container/target_root.h"
#include "sidecar/jvm/attach_trigger.h"
#include "sidecar/jvm/descriptor_room.h"
#include "sidecar/jvm/jvm_flags.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/capability.h>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace jprof::jvm {
namespace {

using base::Deadline;
using base::ErrorCode;
using base::UniqueFd;
using container::TargetRoot;
using std::chrono::microseconds;

// A JVM answers SIGQUIT within a few milliseconds; the waits grow for one that is short of CPU.
constexpr microseconds kFirstWait{100};
constexpr microseconds kMaxWait{20000};
// A wait is this fraction of the time already passed: nobody waits longer than necessary by more
// than that fraction.
constexpr int kWaitShare = 16;
constexpr std::string_view kLaterThread = "Service Thread\n"; // see has_started

base::Error failed(const Target& target, const std::string& cause, const std::string& cure) {
  return base::make_error(ErrorCode::kAttachFailed,
                          "cannot attach to " + target.name() + ": " + cause, cure);
}

std::string socket_path(const Target& target) {
  return "/tmp/.java_pid" + std::to_string(target.innermost_pid());
}

// What is at the socket's path: a connection, nothing usable yet (`why` says what), or an error.
struct Attempt {
  UniqueFd connection;
  std::string why = "it did not open its attach socket";
  bool busy = false;               // somebody listens, and its queue is full
  std::optional<base::Error> ours; // no try of ours can succeed
};

base::Status finish_connect(int socket, Deadline deadline) {
  pollfd wait{socket, POLLOUT, 0};
  while (::poll(&wait, 1, deadline.poll_milliseconds()) <= 0) {
    if (deadline.expired()) {
      return base::make_failure(ErrorCode::kTimeout, "the JVM's attach socket does not accept");
    }
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? base::Status() : base::errno_failure(error, "cannot connect");
}

int connect_to(int socket, const sockaddr_un& address, Deadline deadline) {
  while (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINPROGRESS) {
      return finish_connect(socket, deadline) ? 0 : ETIMEDOUT;
    }
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

std::string peer_problem(int socket, const Target& target) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return "it is unknown who listens on its attach socket";
  }
  if (peer.pid != target.pid() || peer.uid != target.status.effective_uid) {
    return "its attach socket is held by pid " + std::to_string(peer.pid) + " of uid " +
           std::to_string(peer.uid);
  }
  return {};
}

Attempt connect_once(const TargetRoot& root, const Target& target, Deadline deadline) {
  Attempt attempt;
  const std::string path = socket_path(target);
  const auto found = root.resolve(path, container::Links::kRefuseLast);
  if (!found) {
    return attempt;
  }
  struct stat entry {};
  if (::fstat(found->get(), &entry) != 0 || !S_ISSOCK(entry.st_mode)) {
    attempt.why = path + " is not a socket";
    return attempt;
  }
  if (entry.st_uid != target.status.effective_uid) {
    attempt.why = path + " belongs to uid " + std::to_string(entry.st_uid);
    return attempt;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string held = container::descriptor_path(found->get());
  std::memcpy(address.sun_path, held.c_str(), held.size() + 1);
  base::Result<UniqueFd> made = base::make_local_socket(SOCK_STREAM | SOCK_NONBLOCK);
  if (!made) {
    attempt.ours = made.error();
    return attempt;
  }
  UniqueFd socket = std::move(*made);
  const int error = connect_to(socket.get(), address, deadline);
  if (error != 0) {
    attempt.why = path + ": " + std::strerror(error);
    attempt.busy = error == EAGAIN;
    return attempt;
  }
  attempt.why = peer_problem(socket.get(), target);
  if (attempt.why.empty()) {
    attempt.connection = std::move(socket);
  }
  return attempt;
}

// While a listener's queue is full, connect(2) returns EAGAIN at once. Asking the JVM for a socket
// that it already has would print its threads, so we wait; and check again each time, since the
// listener may be somebody else's, which the JVM is about to replace.
Attempt try_connect(const TargetRoot& root, const Target& target, Deadline deadline) {
  for (microseconds wait = kFirstWait;; wait = std::min(wait * 2, kMaxWait)) {
    Attempt attempt = connect_once(root, target, deadline);
    if (!attempt.busy || deadline.expired()) {
      return attempt;
    }
    std::this_thread::sleep_for(wait);
  }
}

// The current status, not the one at discovery: it decides whether SIGQUIT is a question or death.
base::Result<container::ProcessStatus> check_running(const Target& target) {
  JPROF_TRY_ASSIGN(container::ProcessStatus now, target.process.status());
  if (now.ended()) {
    return base::fail(target.process.gone());
  }
  if (now.state == 'T' || now.state == 't') {
    return base::fail(failed(target, now.state == 'T' ? "it is stopped" : "a debugger holds it",
                             "let it run (kill -CONT) and try again"));
  }
  return now;
}

// SYS_PTRACE opens a JVM's files to anyone, but its attach socket has mode 0600, it answers only
// its own effective uid and gid or root (JDK 8: not even root), and signals require CAP_KILL.
base::Status check_ids(const Target& target) {
  const container::Identity ours = container::effective_identity();
  const container::Identity theirs = target.identity();
  const bool as_root = ours.uid == 0 && container::has_capability(CAP_KILL) &&
                       container::has_capability(CAP_DAC_OVERRIDE);
  if (container::can_act_as(theirs) || as_root) {
    return {};
  }
  return base::make_failure(
      ErrorCode::kIdentityMismatch,
      target.name() + " runs as uid:gid " + std::to_string(theirs.uid) + ":" +
          std::to_string(theirs.gid) + " and answers only those; jprof runs as " +
          std::to_string(ours.uid) + ":" + std::to_string(ours.gid),
      "set runAsUser: " + std::to_string(theirs.uid) +
          " and runAsGroup: " + std::to_string(theirs.gid) + " for the jprof container");
}

// In a /tmp with the sticky bit, a JVM cannot replace another user's file with its own socket.
base::Status check_foreign_socket(const TargetRoot& root, const Target& target) {
  const std::string path = socket_path(target);
  const auto found = root.resolve(path, container::Links::kRefuseLast);
  const uid_t theirs = target.status.effective_uid;
  struct stat entry {};
  if (!found || ::fstat(found->get(), &entry) != 0 || entry.st_uid == theirs || theirs == 0) {
    return {};
  }
  return base::fail(failed(target, path + " belongs to uid " + std::to_string(entry.st_uid),
                           "remove that file, a leftover of another user's JVM"));
}

base::Error deaf(const Target& target) {
  return failed(target, "it does not catch SIGQUIT now, so asking would kill it",
                "it is starting or ending: try again in a second");
}

// The last check before the signal: everything else took time.
base::Status signal(const Target& target) {
  JPROF_TRY_ASSIGN(const container::ProcessStatus now, check_running(target));
  return now.catches(SIGQUIT) ? target.process.send_signal(SIGQUIT) : base::fail(deaf(target));
}

base::Error timed_out(const Target& target, const std::string& why) {
  const auto status = target.process.status();
  if (!status || !target.process.running()) {
    return target.process.gone();
  }
  if (status->state == 'T' || status->state == 't') {
    return base::make_error(ErrorCode::kTimeout,
                            target.name() + " did not answer the request to attach: it is " +
                                (status->state == 'T' ? "stopped (SIGSTOP)" : "held by a debugger"),
                            "let it run (kill -CONT) and try again");
  }
  return base::make_error(
      ErrorCode::kTimeout, target.name() + " did not answer the request to attach: " + why,
      "if it is in a long pause, frozen (paused) or short of CPU, try again when "
      "it is not; one whose socket in /tmp was deleted (JDK 8) must be "
      "restarted");
}

base::Result<UniqueFd> wait_for_socket(const TargetRoot& root, const Target& target,
                                       Deadline deadline) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    Attempt attempt = try_connect(root, target, deadline);
    if (attempt.connection) {
      return std::move(attempt.connection);
    }
    if (attempt.ours) {
      return base::fail(*attempt.ours);
    }
    if (deadline.expired() || !target.process.running()) {
      return base::fail(timed_out(target, attempt.why));
    }
    const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - begin;
    const std::chrono::nanoseconds wait =
        std::clamp<std::chrono::nanoseconds>(passed / kWaitShare, kFirstWait, kMaxWait);
    std::this_thread::sleep_for(std::min(wait, deadline.remaining()));
  }
}

base::Result<UniqueFd> handshake(const TargetRoot& root, const Target& target, Deadline deadline) {
  // Before the JVM is asked for what we could not use.
  JPROF_TRY(base::make_local_socket(SOCK_STREAM | SOCK_NONBLOCK));
  Attempt attempt = try_connect(root, target, deadline);
  if (attempt.connection) {
    return std::move(attempt.connection);
  }
  JPROF_TRY_ASSIGN(const AttachTrigger trigger, AttachTrigger::create(root, target));
  JPROF_TRY(signal(target));
  return wait_for_socket(root, target, deadline);
}

// A JVM catches SIGQUIT a moment before it is ready for it, and forgets what it does in that moment
// (create_vm removes stale sockets after the handler is installed). Its service thread is created
// later.
bool has_started(const TargetRoot& root, const Target& target) {
  constexpr std::size_t kMaxThreads = 4096;
  if (has_attach_socket(root, target)) {
    return true;
  }
  const auto status = target.process.status();
  if (!status || !status->catches(SIGQUIT)) {
    return false;
  }
  bool found = false; // among the first, in the order in which they were made
  std::size_t seen = 0;
  const base::Status visited = target.process.visit("task", [&](const std::string& thread) {
    const auto name = target.process.read("task/" + thread + "/comm", 64);
    found = name && *name == kLaterThread;
    return !found && ++seen < kMaxThreads;
  });
  return visited && found;
}

// Waits for a JVM that may be starting: its process is young, or was something else before it
// became a JVM. One that is neither (its threads have other names) costs the shorter wait once.
void wait_until_started(const TargetRoot& root, const Target& target, Deadline deadline) {
  constexpr std::chrono::seconds kYoung{10};
  const auto patience = Deadline::after(std::chrono::seconds(2)).sooner(deadline);
  microseconds wait = kFirstWait;
  while (!has_started(root, target) && check_running(target) && !deadline.expired() &&
         (!patience.expired() || process_age(target.process) < kYoung)) {
    std::this_thread::sleep_for(wait);
    wait = std::min(wait * 2, kMaxWait);
  }
}

} // namespace

bool has_attach_socket(const TargetRoot& root, const Target& target) {
  const auto found = root.resolve(socket_path(target), container::Links::kRefuseLast);
  struct stat entry {};
  return found && ::fstat(found->get(), &entry) == 0 && S_ISSOCK(entry.st_mode) &&
         entry.st_uid == target.status.effective_uid;
}

base::Status check_attachable(const TargetRoot& root, const Target& target) {
  JPROF_TRY_ASSIGN(const container::ProcessStatus now, check_running(target));
  JPROF_TRY(check_ids(target));
  JPROF_TRY(check_foreign_socket(root, target));
  // Before the socket is looked for: a socket left in a persistent /tmp by an earlier JVM with the
  // same pid must not lead to a signal, which prints a thread dump if attaching is disabled.
  const JvmFlags flags = read_flags(target);
  if (flags.attach_disabled) {
    return base::make_failure(ErrorCode::kAttachDisabled,
                              target.name() + " refuses to be attached to",
                              "remove -XX:+DisableAttachMechanism from the JVM's options");
  }
  JPROF_TRY(check_descriptor_room(target, now));
  if (has_attach_socket(root, target)) {
    return {};
  }
  // With -Xrs a JVM opens its socket by itself at the end of its start
  // (AttachListener::init_at_startup), and never catches SIGQUIT.
  if (!now.catches(SIGQUIT) && flags.signals_reduced) {
    return base::fail(failed(target, "it runs with -Xrs and its attach socket is not there",
                             "if it is starting, try again in a second; if its socket in /tmp was "
                             "deleted, restart it without -Xrs"));
  }
  return now.catches(SIGQUIT) ? base::Status() : base::fail(deaf(target));
}

base::Result<UniqueFd> open_attach_socket(const Target& target, Deadline deadline) {
  if (target.vm.vm != container::Vm::kHotSpot) {
    return base::make_failure(ErrorCode::kJvmUnsupported, target.name() + " is not a HotSpot JVM",
                              "jprof profiles OpenJDK and its distributions, 8 to 25");
  }
  // With our own rights, which may exceed the target's: it need not be open to its own uid.
  JPROF_TRY_ASSIGN(const TargetRoot root, container::open_root(target.process, deadline));
  const auto look = [&] {
    wait_until_started(root, target, deadline);
    return check_attachable(root, target);
  };
  const bool as_we_are = container::effective_identity() == target.identity();
  if (!as_we_are) {
    JPROF_TRY(container::act_within(deadline, look));
  }
  return container::open_as(target.identity(), deadline, [&]() -> base::Result<UniqueFd> {
    if (as_we_are) { // one process does both
      JPROF_TRY(look());
    }
    return handshake(root, target, deadline);
  });
}

} // namespace jprof::jvm
