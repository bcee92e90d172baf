// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/local_socket.h"

#include <cerrno>
#include <sys/socket.h>

namespace jprof::base {

Error socket_error(int os_errno, const std::string& what, const char* call) {
  Error failure = errno_error(os_errno, "cannot " + what);
  // The kernel itself refuses none to anybody; profiles answer with any of these.
  if (os_errno == EPERM || os_errno == EACCES || os_errno == ENOSYS || os_errno == EAFNOSUPPORT) {
    failure.code = ErrorCode::kPermission;
    failure.message +=
        std::string(": the seccomp profile of this container refuses ") + call + "()";
    failure.cure =
        "let the profile allow socket, socketpair, bind, listen, accept4 and connect, or "
        "use seccompProfile.type RuntimeDefault";
  }
  return failure;
}

Result<UniqueFd> make_local_socket(int type) {
  UniqueFd made(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  if (!made) {
    return fail(socket_error(errno, "make a Unix socket", "socket"));
  }
  return made;
}

Result<std::array<UniqueFd, 2>> make_socket_pair(int type) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(socket_error(errno, "make a socket pair", "socketpair"));
  }
  return std::array{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

} // namespace jprof::base
