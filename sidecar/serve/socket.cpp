// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/socket.h"

#include "lib/base/local_socket.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace jprof::serve {
namespace {

base::Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return base::make_failure(base::ErrorCode::kConfigInvalid,
                              "the socket's path has " + std::to_string(path.size()) +
                                  " bytes, the system allows " +
                                  std::to_string(sizeof address.sun_path - 1),
                              "set a shorter 'socket' in the configuration");
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

} // namespace

std::string socket_path(const config::SidecarConfig& config) {
  return config.socket.empty() ? config.spool.directory + "/serve.sock" : config.socket;
}

base::Result<base::UniqueFd> listen_at(const std::string& path) {
  JPROF_TRY_ASSIGN(const sockaddr_un address, address_of(path));
  JPROF_TRY_ASSIGN(base::UniqueFd fd, base::make_local_socket(SOCK_STREAM | SOCK_NONBLOCK));
  ::unlink(path.c_str());
  const mode_t old = ::umask(0177);
  const int bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(old);
  if (bound != 0 || ::listen(fd.get(), 64) != 0) {
    return base::fail(base::errno_error(bound != 0 ? error : errno, "cannot listen at " + path)
                          .with_cure("mount a writable emptyDir at /var/lib/jprof, or set 'socket' "
                                     "in the configuration"));
  }
  return fd;
}

base::Result<base::UniqueFd> connect_to(const std::string& path) {
  JPROF_TRY_ASSIGN(const sockaddr_un address, address_of(path));
  JPROF_TRY_ASSIGN(base::UniqueFd fd, base::make_local_socket(SOCK_STREAM));
  while (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EINTR) {
      return base::errno_failure(errno, "cannot connect to " + path);
    }
  }
  JPROF_TRY(check_peer(fd.get()));
  return fd;
}

base::Status check_peer(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return base::errno_failure(errno, "cannot tell who is at the other end of the socket");
  }
  if (peer.uid != ::geteuid() && peer.uid != 0) {
    return base::make_failure(base::ErrorCode::kPermission,
                              "the other end of the socket runs as uid " +
                                  std::to_string(peer.uid) + ", not as " +
                                  std::to_string(::geteuid()));
  }
  return {};
}

} // namespace jprof::serve
