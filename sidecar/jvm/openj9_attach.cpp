// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/openj9_attach.h"

#include "lib/base/directory.h"
#include "lib/base/file.h"
#include "lib/base/local_socket.h"
#include "lib/base/random.h"
#include "sidecar/container/access.h"
#include "sidecar/jvm/openj9_protocol.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <span>
#include <string>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace jprof::jvm {
namespace {

using base::Deadline;
using base::ErrorCode;
using base::UniqueFd;
using container::TargetRoot;

constexpr char kDirectory[] = "/tmp/.com_ibm_tools_attach";
constexpr int kProject = 0xa1; // of ftok(3)
constexpr std::size_t kMaxJvms = 256;
constexpr std::size_t kMaxInfoBytes = 16 * 1024;
constexpr std::chrono::milliseconds kLockWait{10};

base::Error failed(const Target& target, const std::string& cause, const std::string& cure) {
  return base::make_error(ErrorCode::kAttachFailed,
                          "cannot attach to " + target.name() + ": " + cause, cure);
}

// A lock file as OpenJ9 creates it; invalid while somebody else has it, or if it cannot be created.
UniqueFd try_lock(int directory, const std::string& name) {
  UniqueFd file(::openat(directory, name.c_str(),
                         O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  struct stat entry {};
  if (!file || ::fstat(file.get(), &entry) != 0 || !S_ISREG(entry.st_mode) ||
      ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    file.reset();
  }
  return file;
}

base::Result<UniqueFd> wait_for_lock(int directory, const std::string& name, Deadline deadline) {
  for (;;) {
    UniqueFd lock = try_lock(directory, name);
    if (lock) {
      return lock;
    }
    if (deadline.expired()) {
      return base::make_failure(ErrorCode::kBusy,
                                std::string("somebody else holds ") + kDirectory + "/" + name,
                                "wait until the other tool has attached");
    }
    std::this_thread::sleep_for(kLockWait);
  }
}

// The directories of the JVMs that wait here; anything in there that is not a plain name is
// skipped.
std::vector<std::string> jvm_directories(int directory) {
  std::vector<std::string> names;
  const auto all = base::names_in(directory);
  for (const std::string& name : all ? *all : std::vector<std::string>()) {
    if (name[0] != '.' && name[0] != '_' && names.size() < kMaxJvms) {
      names.push_back(name);
    }
  }
  return names;
}

// Its directory is named after its pid, unless -Dcom.ibm.tools.attach.id says otherwise.
base::Result<std::string> find_directory(const TargetRoot& root, const Target& target,
                                         const std::vector<std::string>& names) {
  const std::string pid = std::to_string(target.innermost_pid());
  std::vector<std::string> order = {pid};
  order.insert(order.end(), names.begin(), names.end());
  for (const std::string& name : order) {
    const auto info =
        root.read(std::string(kDirectory) + "/" + name + "/attachInfo", kMaxInfoBytes);
    if (info && (name == pid ||
                 ("\n" + *info + "\n").find("\nprocessId=" + pid + "\n") != std::string::npos)) {
      return name;
    }
  }
  return base::make_failure(ErrorCode::kAttachDisabled,
                            target.name() + " does not wait for anybody in " + kDirectory,
                            "start it with -Dcom.ibm.tools.attach.enable=yes");
}

// Only loopback, but both families: which one "localhost" means is the JVM's own choice.
class Listener {
 public:
  static base::Result<Listener> open() {
    // The kernel gives a port that is free on ::1; on 127.0.0.1 it may belong to somebody else, or
    // to a connection that has ended. A JVM that connects there must not reach them.
    constexpr int kMaxTries = 64;
    for (int i = 0; i < kMaxTries; ++i) {
      Listener out;
      sockaddr_in6 six{};
      six.sin6_family = AF_INET6;
      six.sin6_addr = IN6ADDR_LOOPBACK_INIT;
      out.six_ = listen_at(reinterpret_cast<sockaddr*>(&six), sizeof six);
      sockaddr_in four{};
      four.sin_family = AF_INET;
      four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      four.sin_port = out.six_ ? six.sin6_port : 0;
      out.four_ = listen_at(reinterpret_cast<sockaddr*>(&four), sizeof four);
      if (!out.four_ && (!out.six_ || errno == EADDRINUSE)) {
        continue;
      }
      out.port_ = out.six_ ? six.sin6_port : four.sin_port;
      return out;
    }
    return base::fail(base::socket_error(errno, "listen on the loopback address", "socket"));
  }

  std::uint16_t port() const { return ntohs(port_); }

  // The first connection that says `greeting`: anybody may connect to a port.
  base::Result<UniqueFd> accept(const std::string& greeting, Deadline deadline) const {
    std::array<pollfd, 2> fds{{{four_.get(), POLLIN, 0}, {six_.get(), POLLIN, 0}}};
    while (!deadline.expired()) {
      ::poll(fds.data(), fds.size(), deadline.poll_milliseconds());
      for (const pollfd& fd : fds) {
        if ((fd.revents & POLLIN) == 0) {
          continue;
        }
        UniqueFd caller(::accept4(fd.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        constexpr std::chrono::seconds kGreetingTime{5};
        if (caller &&
            says(caller.get(), greeting, Deadline::after(kGreetingTime).sooner(deadline))) {
          return caller;
        }
      }
    }
    return base::make_failure(
        ErrorCode::kTimeout, "the JVM did not answer the request to attach",
        "if it is in a long pause, frozen (paused) or short of CPU, try again "
        "when it is not");
  }

 private:
  static UniqueFd listen_at(sockaddr* address, socklen_t size) {
    UniqueFd socket(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket || ::bind(socket.get(), address, size) != 0 || ::listen(socket.get(), 4) != 0 ||
        ::getsockname(socket.get(), address, &size) != 0) {
      const int error = errno;
      socket.reset();
      errno = error;
    }
    return socket;
  }

  // The greeting and its NUL, and not one byte more: what follows is an answer.
  static bool says(int socket, const std::string& greeting, Deadline deadline) {
    std::string heard;
    while (heard.size() <= greeting.size()) {
      char byte = 0;
      const ssize_t got = ::recv(socket, &byte, 1, 0);
      if (got == 1) {
        heard += byte;
        continue;
      }
      pollfd wait{socket, POLLIN, 0};
      if (got == 0 || (errno != EAGAIN && errno != EINTR) || deadline.expired() ||
          ::poll(&wait, 1, deadline.poll_milliseconds()) <= 0) {
        return false;
      }
    }
    return heard == greeting + std::string(1, '\0');
  }

  UniqueFd four_;
  UniqueFd six_;
  in_port_t port_ = 0; // in network order
};

// The JVMs wait for it; each post wakes one, and it cannot be chosen which.
class Notifier {
 public:
  static base::Result<Notifier> open(int directory) {
    struct stat entry {};
    if (::fstatat(directory, "_notifier", &entry, AT_SYMLINK_NOFOLLOW) != 0) {
      return base::errno_failure(errno, std::string(kDirectory) + "/_notifier");
    }
    // ftok(3), for a file that is held and not named.
    const auto key = static_cast<key_t>((entry.st_ino & 0xffffU) | (entry.st_dev & 0xffU) << 16U |
                                        static_cast<unsigned>(kProject) << 24U);
    const int id = ::semget(key, 1, 0);
    if (id < 0) {
      return base::errno_failure(errno, "its semaphore is not in our IPC namespace");
    }
    return Notifier(id);
  }
  bool post(std::size_t times) const { return change(1, 0, times); }
  void take_back(std::size_t times) const { static_cast<void>(change(-1, IPC_NOWAIT, times)); }

 private:
  explicit Notifier(int id) : id_(id) {}
  bool change(short by, short flags, std::size_t times) const {
    for (std::size_t i = 0; i < times; ++i) {
      sembuf operation{0, by, flags};
      if (::semop(id_, &operation, 1) != 0) {
        return false;
      }
    }
    return true;
  }
  int id_;
};

// replyInfo in a JVM's directory, removed with the object: a new file, so that nothing planted is
// written to, which only the JVM's uid may read.
class ReplyInfo {
 public:
  explicit ReplyInfo(UniqueFd directory) : directory_(std::move(directory)) {}
  ReplyInfo(const ReplyInfo&) = delete;
  ReplyInfo& operator=(const ReplyInfo&) = delete;
  ~ReplyInfo() { ::unlinkat(directory_.get(), kName, 0); }

  base::Status write(const std::string& text) const {
    ::unlinkat(directory_.get(), kName, 0);
    const UniqueFd file(::openat(directory_.get(), kName,
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    return file ? base::write_all(file.get(), text, kName)
                : base::errno_failure(errno, std::string("cannot create ") + kName);
  }

 private:
  static constexpr char kName[] = "replyInfo";
  UniqueFd directory_;
};

// While we hold these, a JVM that was woken for nothing waits, instead of taking the next post.
std::vector<UniqueFd> hold_waiters(const TargetRoot& root, const std::vector<std::string>& names) {
  std::vector<UniqueFd> locks;
  for (const std::string& name : names) {
    if (const auto place = root.open_directory(std::string(kDirectory) + "/" + name)) {
      locks.push_back(try_lock(place->get(), "attachNotificationSync"));
    }
  }
  return locks;
}

base::Status check_namespaces(const Target& target) {
  for (const char* name : {"ns/ipc", "ns/net"}) {
    std::array<char, 64> ours{};
    const ssize_t size =
        ::readlink((std::string("/proc/self/") + name).c_str(), ours.data(), ours.size());
    const auto theirs = target.process.read_link(name);
    if (size > 0 && theirs && *theirs != std::string_view(ours.data(), std::size_t(size))) {
      return base::fail(failed(target, std::string("its ") + (name + 3) + " namespace is not ours",
                               "run jprof in a container of the JVM's pod"));
    }
  }
  return {};
}

} // namespace

base::Result<UniqueFd> call_openj9(const TargetRoot& root, const Target& target,
                                   Deadline deadline) {
  const auto directory = root.open_directory(kDirectory);
  const std::vector<std::string> names =
      directory ? jvm_directories(directory->get()) : std::vector<std::string>();
  JPROF_TRY_ASSIGN(const std::string name, find_directory(root, target, names));
  JPROF_TRY_ASSIGN(const UniqueFd lock, wait_for_lock(directory->get(), "_attachlock", deadline));
  JPROF_TRY_ASSIGN(const Notifier notifier, Notifier::open(directory->get()));
  JPROF_TRY_ASSIGN(const Listener listener, Listener::open());
  std::uint64_t key = 0;
  JPROF_TRY(base::random_bytes(std::as_writable_bytes(std::span(&key, 1))));
  JPROF_TRY_ASSIGN(UniqueFd place, root.open_directory(std::string(kDirectory) + "/" + name));
  const ReplyInfo info(std::move(place));
  JPROF_TRY(info.write(openj9_reply_info(key, listener.port())));
  std::vector<UniqueFd> waiters = hold_waiters(root, names);
  if (!notifier.post(names.size())) {
    return base::fail(failed(target, std::string("its semaphore: ") + std::strerror(errno), ""));
  }
  auto connection = listener.accept(openj9_greeting(key), deadline);
  waiters.clear();
  notifier.take_back(names.size());
  return connection;
}

base::Result<UniqueFd> open_openj9(const Target& target, Deadline deadline) {
  JPROF_TRY_ASSIGN(const TargetRoot root, container::open_root(target.process, deadline));
  JPROF_TRY(check_namespaces(target));
  return container::open_as(target.identity(), deadline,
                            [&] { return call_openj9(root, target, deadline); });
}

} // namespace jprof::jvm
