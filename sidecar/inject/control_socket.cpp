// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/inject/control_socket.h"

#include "lib/base/directory.h"
#include "lib/base/encoding.h"
#include "lib/base/local_socket.h"
#include "lib/base/random.h"
#include "lib/wire/agent_options.h"
#include "sidecar/container/access.h"
#include "sidecar/container/as_target.h"
#include "sidecar/container/target_root.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace jprof::inject {
namespace {

using base::Deadline;
using base::ErrorCode;
using base::UniqueFd;

constexpr std::string_view kNamePrefix = ".jprof-";
constexpr std::size_t kNameCharacters = 24; // 120 bits
constexpr std::string_view kNameSuffix = ".sock";
constexpr int kBacklog = 16;
constexpr int kMaxPeers = 64; // strangers tolerated before we give up
constexpr std::chrono::milliseconds kHelloTime{2000};
constexpr std::chrono::milliseconds kLivenessStep{200};
constexpr std::chrono::seconds kBindTime{10}; // of the target's file system

base::Error no_socket(const jvm::Target& target, int os_errno) {
  const std::string what = "cannot create a socket in /tmp of " + target.name();
  if (os_errno == EMFILE || os_errno == ENFILE) {
    return base::errno_error(os_errno, what); // ours: nothing is wrong with its /tmp
  }
  return base::make_error(ErrorCode::kAttachFailed, what + ": " + std::strerror(os_errno),
                          os_errno == ENOSPC ? "make room in the file system that holds its /tmp"
                                             : "mount an emptyDir at /tmp of the JVM's container");
}

base::Result<UniqueFd> bind_socket(const jvm::Target& target, int directory,
                                   const std::string& name) {
  JPROF_TRY_ASSIGN(UniqueFd socket, base::make_local_socket(SOCK_SEQPACKET | SOCK_NONBLOCK));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = container::descriptor_path(directory) + "/" + name;
  if (path.size() >= sizeof address.sun_path) {
    return base::errno_failure(ENAMETOOLONG, "cannot create a socket");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  // On a socket that is not yet bound, fchmod sets the mode that the name will have, whatever the
  // umask.
  if (::fchmod(socket.get(), 0600) != 0 ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return base::fail(no_socket(target, errno));
  }
  return socket;
}

bool nobody_listens(int path_fd) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string held = container::descriptor_path(path_fd);
  std::memcpy(address.sun_path, held.c_str(), held.size() + 1);
  const auto socket = base::make_local_socket(SOCK_SEQPACKET | SOCK_NONBLOCK);
  return socket &&
         ::connect(socket->get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
             0 &&
         errno == ECONNREFUSED;
}

bool is_target(int socket, const jvm::Target& target) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.pid == target.pid() && peer.uid == target.status.effective_uid;
}

bool same_nonce(const std::uint8_t* given, const ControlSocket::Nonce& ours) {
  unsigned difference = 0; // in constant time
  for (std::size_t i = 0; i < ours.size(); ++i) {
    difference |= static_cast<unsigned>(given[i] ^ ours[i]);
  }
  return difference == 0;
}

bool wait_readable(int fd, Deadline deadline) {
  for (;;) {
    pollfd wait{fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, deadline.poll_milliseconds());
    if (ready > 0) {
      return true;
    }
    if ((ready < 0 && errno != EINTR) || deadline.expired()) {
      return false;
    }
  }
}

// The agent's first message, checked; kProtocol if it is not one.
base::Result<wire::HelloMessage> read_hello(int socket, Deadline deadline) {
  wire::HelloMessage hello{};
  std::array<std::byte, wire::kMaxControlBytes> packet{};
  if (!wait_readable(socket, deadline)) {
    return base::make_failure(ErrorCode::kProtocol, "it connected and said nothing");
  }
  const ssize_t got = ::recv(socket, packet.data(), packet.size(), MSG_DONTWAIT);
  if (got < static_cast<ssize_t>(sizeof hello)) {
    return base::make_failure(ErrorCode::kProtocol, "its first message is too short");
  }
  std::memcpy(&hello, packet.data(), sizeof hello);
  if (hello.header.type != static_cast<std::uint32_t>(wire::ControlType::kHello) ||
      hello.header.bytes < sizeof hello) {
    return base::make_failure(ErrorCode::kProtocol, "its first message is not a hello");
  }
  hello.agent_version[sizeof hello.agent_version - 1] = '\0';
  hello.java_version[sizeof hello.java_version - 1] = '\0';
  return hello;
}

base::Error not_connected(const jvm::Target& target) {
  const auto now = target.process.status();
  if (now && (now->state == 'T' || now->state == 't')) {
    return base::make_error(ErrorCode::kTimeout,
                            "the agent did not connect in time: " + target.name() + " is " +
                                (now->state == 'T' ? "stopped (SIGSTOP)" : "held by a debugger"),
                            "let it run (kill -CONT) and try again");
  }
  return base::make_error(ErrorCode::kTimeout, "the agent did not connect in time");
}

// Sockets of sessions that were killed, or whose file system thawed too late. They are ours by
// name, kind and owner, and nobody listens, which the kernel reports for exactly the file that was
// examined: no link is followed, and no name is resolved twice. On a young one somebody may be
// about to listen.
void sweep_sockets(const jvm::Target& target, int directory) {
  constexpr std::size_t kMaxEntries = 4096;
  constexpr time_t kYoung = 10; // seconds
  const auto names = base::names_in(directory, kMaxEntries);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (name.size() != kNamePrefix.size() + kNameCharacters + kNameSuffix.size() ||
        !name.starts_with(kNamePrefix) || !name.ends_with(kNameSuffix)) {
      continue;
    }
    const UniqueFd held(::openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat file {};
    if (held && ::fstat(held.get(), &file) == 0 && S_ISSOCK(file.st_mode) &&
        file.st_uid == target.status.effective_uid && ::time(nullptr) - file.st_mtime > kYoung &&
        nobody_listens(held.get())) {
      ::unlinkat(directory, name.c_str(), 0);
    }
  }
}

base::Status check_version(const wire::HelloMessage& hello) {
  if (hello.min_version <= wire::kControlVersion && hello.version >= wire::kMinControlVersion) {
    return {};
  }
  return base::make_failure(
      ErrorCode::kAgentFailed,
      "the agent in the JVM (" + base::printable(hello.agent_version) +
          ") speaks another version of the control protocol than this jprof",
      hello.version < wire::kMinControlVersion
          ? "an old agent stays until its JVM restarts: restart the pod, or use that jprof"
          : "use the newer jprof whose agent is resident in this JVM");
}

} // namespace

ControlSocket::ControlSocket(ControlSocket&& other) noexcept
    : target_(other.target_), directory_(std::move(other.directory_)),
      listener_(std::move(other.listener_)), name_(std::exchange(other.name_, {})),
      path_(std::move(other.path_)), nonce_(other.nonce_) {}

ControlSocket::~ControlSocket() {
  close();
}

base::Result<ControlSocket> ControlSocket::create(const jvm::Target& target, Deadline whole) {
  const Deadline deadline = whole.sooner(Deadline::after(kBindTime));
  ControlSocket control(target);
  JPROF_TRY(base::random_bytes(std::as_writable_bytes(std::span(control.nonce_))));
  JPROF_TRY_ASSIGN(const std::string random, base::random_base32(kNameCharacters));
  const std::string name = std::string(kNamePrefix) + random + std::string(kNameSuffix);
  JPROF_TRY_ASSIGN(const container::TargetRoot root,
                   container::open_root(target.process, deadline));
  // What fails outside the step is not about its /tmp.
  JPROF_TRY_ASSIGN(
      control.directory_, container::open_within(deadline, [&]() -> base::Result<UniqueFd> {
        auto tmp = root.open_directory("/tmp");
        return tmp ? std::move(tmp) : base::fail(no_socket(target, tmp.error().os_errno));
      }));
  JPROF_TRY_ASSIGN(control.listener_, container::open_as(target.identity(), deadline, [&] {
                     sweep_sockets(target, control.directory_.get());
                     return bind_socket(target, control.directory_.get(), name);
                   }));
  control.name_ = name;
  control.path_ = "/tmp/" + name;
  return control;
}

std::string ControlSocket::agent_options() const {
  const std::string_view nonce(reinterpret_cast<const char*>(nonce_.data()), nonce_.size());
  return std::string(wire::kOptionVersion) + "=1," + wire::kOptionSocket + "=" + path_ + "," +
         wire::kOptionNonce + "=" + base::hex(nonce);
}

base::Result<ControlSocket::Accepted> ControlSocket::accept(Deadline deadline) const {
  for (int peers = 0; peers < kMaxPeers;) {
    if (!wait_readable(listener_.get(), deadline.sooner(Deadline::after(kLivenessStep)))) {
      if (!target_->process.running()) {
        return base::fail(target_->process.gone());
      }
      if (deadline.expired()) {
        return base::fail(not_connected(*target_));
      }
      continue;
    }
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      continue;
    }
    ++peers;
    if (!is_target(socket.get(), *target_)) {
      continue;
    }
    auto hello = read_hello(socket.get(), deadline.sooner(Deadline::after(kHelloTime)));
    if (!hello || !same_nonce(hello->nonce, nonce_)) {
      continue; // the target's own process may be hostile, or an agent of another session
    }
    JPROF_TRY(check_version(*hello));
    return Accepted{std::move(socket), *hello};
  }
  return base::make_failure(ErrorCode::kProtocol,
                            "too many strangers connect to the agent's socket in " +
                                target_->name());
}

void ControlSocket::close() {
  listener_.reset();
  if (!name_.empty() && directory_) {
    const std::string name = std::exchange(name_, {});
    (void)container::act_as(target_->identity(), Deadline::after(std::chrono::seconds(5)), [&] {
      ::unlinkat(directory_.get(), name.c_str(), 0);
      return base::Status();
    });
  }
  directory_.reset();
}

} // namespace jprof::inject
