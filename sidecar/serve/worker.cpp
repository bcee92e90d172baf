// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/worker.h"

#include "sidecar/serve/guarded.h"

#include <cerrno>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace jprof::serve {

base::Result<Worker> start_worker(const char* purpose,
                                  const std::function<int(base::UniqueFd channel)>& work) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return base::errno_failure(errno, "cannot make a socket pair");
  }
  base::UniqueFd ours(ends[0]);
  base::UniqueFd theirs(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return base::errno_failure(errno, std::string("cannot start a process for ") + purpose);
  }
  if (child == 0) {
    ours.reset();
    // No destructor of what was inherited may run here.
    ::_exit(guarded([&] { return work(std::move(theirs)); }));
  }
  return Worker{child, std::move(ours)};
}

} // namespace jprof::serve
