// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/as_target.h"

#include "lib/base/file.h"
#include "lib/base/held_back.h"
#include "lib/base/json.h"
#include "lib/base/local_socket.h"
#include "sidecar/container/packet.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <mutex>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace jprof::container {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxHandedText = 64 * 1024;
constexpr std::size_t kPacketBytes = kMaxHandedText * 2;

std::uint64_t effective_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) {
    return 0;
  }
  return std::uint64_t{data[1].effective} << 32U | data[0].effective;
}

// In the child only: its real and saved ids stay ours, so that no process of the target's uid may
// trace it; giving up effective uid 0 drops its capabilities and makes it non-dumpable.
base::Status become(Identity identity) {
  (void)::setgroups(0, nullptr); // a user namespace may forbid it; the groups are ours then
  const auto keep_gid = static_cast<gid_t>(-1);
  const auto keep_uid = static_cast<uid_t>(-1);
  if (::setresgid(keep_gid, identity.gid, keep_gid) != 0 ||
      ::setresuid(keep_uid, identity.uid, keep_uid) != 0) {
    return base::errno_failure(errno, "cannot take the uid and gid of the target");
  }
  if (!(effective_identity() == identity)) {
    return base::make_failure(ErrorCode::kInternal, "the uid or gid did not change");
  }
  return {};
}

std::string pack(const base::Result<Handed>& result) {
  base::Json object;
  if (result) {
    object["text"] = result->text;
  } else {
    const base::Error& error = result.error();
    object["code"] = base::reason_word(error.code);
    object["message"] = error.message;
    object["cure"] = error.cure;
    object["errno"] = error.os_errno;
  }
  return base::dump_json(object);
}

base::Result<Handed> unpack(std::string_view packet, base::UniqueFd fd) {
  JPROF_TRY_ASSIGN(const base::Json object, base::parse_json(packet));
  const std::string code = base::json_string(object, "code");
  if (code.empty()) {
    return Handed{std::move(fd), base::json_string(object, "text")};
  }
  base::Error error =
      base::make_error(base::code_from_word(code), base::json_string(object, "message"),
                       base::json_string(object, "cure"));
  error.os_errno = static_cast<int>(base::json_int(object, "errno"));
  return base::fail(std::move(error));
}

base::Result<Handed> receive_answer(int socket) {
  auto packet = receive_packet(socket, kPacketBytes);
  if (!packet || packet->bytes.empty()) {
    return base::make_failure(ErrorCode::kInternal,
                              "the process that acts for the target's uid died");
  }
  return unpack(packet->bytes, std::move(packet->fd));
}

// A child that is left behind must not keep open what somebody reads to its end: our output.
void let_go_of_output() {
  base::UniqueFd nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nowhere) { // a sandbox hides it
    nowhere.reset(::memfd_create("jprof-nowhere", MFD_CLOEXEC));
  }
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(nowhere.get(), fd);
  }
}

// `identity`: null for our own.
[[noreturn]] void run_child(int socket, const Identity* identity, const Step& step) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  let_go_of_output();
  base::close_held_back(); // we may be killed before it, and it may be stuck: our locks end with us
  base::Result<Handed> result = base::make_failure(ErrorCode::kInternal, "not run");
  if (base::Status became = identity == nullptr ? base::Status() : become(*identity); !became) {
    result = base::fail(std::move(became).error());
  } else {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // changing ids cleared it
    result = step();
  }
  // A failure looks like silence of this process.
  (void)send_packet(socket, pack(result), result ? result->fd.get() : -1);
  ::_exit(0); // no destructor or exit handler of the parent's state may run twice
}

base::Result<Handed> wait_for_child(int socket, base::Deadline deadline) {
  for (;;) {
    pollfd wait{socket, POLLIN, 0};
    const int ready = ::poll(&wait, 1, deadline.poll_milliseconds());
    if (ready > 0) {
      return receive_answer(socket);
    }
    if (ready < 0 && errno != EINTR) {
      return base::errno_failure(errno, "cannot wait for a child process");
    }
    if (deadline.expired()) {
      return base::make_failure(ErrorCode::kTimeout,
                                "the target's file system did not answer in time",
                                "look at the mounts of the JVM's container, /tmp first: one is "
                                "frozen, or its server is gone");
    }
  }
}

// Children that the kernel did not let go although they were killed: a write to a frozen file
// system, for example, cannot be interrupted (fsfreeze(8)).
class LeftBehind {
 public:
  void add(pid_t child) {
    const std::scoped_lock lock(mutex_);
    children_.push_back(child);
  }
  void reap() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(children_, [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) != 0; });
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> children_;
};

LeftBehind& left_behind() {
  static LeftBehind all;
  return all;
}

// False if it has not ended in time. It stays ours until it is waited for: nobody else can get its
// number.
bool wait_for_end(pid_t child, base::Deadline deadline) {
  constexpr std::chrono::microseconds kFirst{20};
  constexpr std::chrono::microseconds kMax{2000};
  for (auto pause = kFirst; ::waitpid(child, nullptr, WNOHANG) == 0;
       pause = std::min(pause * 2, kMax)) {
    if (deadline.expired()) {
      return false;
    }
    std::this_thread::sleep_for(pause);
  }
  return true;
}

// Ends a child that has answered, or never will; false if it is left behind.
bool end_child(pid_t child, bool answered) {
  constexpr std::chrono::milliseconds kPatience{500}; // closing a file may take a server, too
  if (answered && wait_for_end(child, base::Deadline::after(kPatience))) {
    return true;
  }
  ::kill(child, SIGKILL);
  if (wait_for_end(child, base::Deadline::after(kPatience))) {
    return true;
  }
  left_behind().add(child);
  return false;
}

base::Result<Handed> in_child(const Identity* identity, base::Deadline deadline, const Step& step) {
  left_behind().reap();
  JPROF_TRY_ASSIGN(auto pair, base::make_socket_pair(SOCK_SEQPACKET));
  base::UniqueFd& ours = pair[0];
  base::UniqueFd& theirs = pair[1];
  const pid_t child = ::fork();
  if (child < 0) {
    return base::errno_failure(errno, "cannot start a child process");
  }
  if (child == 0) {
    run_child(theirs.get(), identity, step);
  }
  theirs.reset();
  // A step that waits on its own has the same deadline, cleans up, and knows better what it was
  // waiting for.
  constexpr std::chrono::seconds kGrace{1};
  base::Result<Handed> result =
      wait_for_child(ours.get(), base::Deadline::after(deadline.remaining() + kGrace));
  const bool timed_out = !result && result.error().code == ErrorCode::kTimeout;
  if (!end_child(child, !timed_out) && !result) {
    result.error().message += "; process " + std::to_string(child) +
                              " of ours waits there and cannot be ended before it does";
  }
  return result;
}

base::Result<base::UniqueFd> descriptor_of(base::Result<Handed> handed) {
  if (!handed) {
    return base::fail(std::move(handed).error());
  }
  if (!handed->fd) { // the kernel drops descriptors for which this process has no room
    return base::make_failure(base::ErrorCode::kLimit, "a descriptor was not handed over",
                              "raise the limit on open files (ulimit -n)");
  }
  return std::move(handed->fd);
}

Step step_of(const std::function<base::Result<base::UniqueFd>()>& open) {
  return [&open]() -> base::Result<Handed> {
    JPROF_TRY_ASSIGN(base::UniqueFd fd, open());
    return Handed{std::move(fd), {}};
  };
}

Step step_of(const std::function<base::Status()>& act) {
  return [&act]() -> base::Result<Handed> {
    JPROF_TRY(act());
    return Handed{};
  };
}

base::Status status_of(const base::Result<Handed>& handed) {
  return handed ? base::Status() : base::fail(handed.error());
}

} // namespace

bool has_capability(int capability) {
  return (effective_capabilities() >> capability & 1U) != 0;
}

bool can_act_as(Identity identity) {
  return effective_identity() == identity ||
         (has_capability(CAP_SETUID) && has_capability(CAP_SETGID));
}

Identity effective_identity() {
  return {::geteuid(), ::getegid()};
}

base::Result<Handed> within(base::Deadline deadline, const Step& step) {
  return in_child(nullptr, deadline, step);
}

base::Result<base::UniqueFd>
open_within(base::Deadline deadline, const std::function<base::Result<base::UniqueFd>()>& open) {
  return descriptor_of(within(deadline, step_of(open)));
}

base::Status act_within(base::Deadline deadline, const std::function<base::Status()>& act) {
  return status_of(within(deadline, step_of(act)));
}

base::Result<Handed> as_identity(Identity identity, base::Deadline deadline, const Step& step) {
  const bool as_we_are = effective_identity() == identity || !can_act_as(identity);
  return in_child(as_we_are ? nullptr : &identity, deadline, step);
}

base::Result<base::UniqueFd> open_as(Identity identity, base::Deadline deadline,
                                     const std::function<base::Result<base::UniqueFd>()>& open) {
  return descriptor_of(as_identity(identity, deadline, step_of(open)));
}

base::Status act_as(Identity identity, base::Deadline deadline,
                    const std::function<base::Status()>& act) {
  return status_of(as_identity(identity, deadline, step_of(act)));
}

} // namespace jprof::container
