// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/local_socket.h"

#include <cerrno>
#include <sys/socket.h>

namespace jprof::jvm {

base::Result<base::UniqueFd> make_local_socket(int type) {
  base::UniqueFd made(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made) {
    return made;
  }
  const int error = errno;
  base::Error failure = base::errno_error(error, "cannot make a Unix socket");
  // The kernel itself refuses none to anybody; profiles answer with any of these.
  if (error == EPERM || error == EACCES || error == ENOSYS || error == EAFNOSUPPORT) {
    failure.code = base::ErrorCode::kPermission;
    failure.message += ": the seccomp profile of this container refuses socket()";
    failure.cure =
        "let the profile allow socket, socketpair, bind, listen, accept4 and connect, or "
        "use seccompProfile.type RuntimeDefault";
  }
  return base::fail(std::move(failure));
}

} // namespace jprof::jvm
