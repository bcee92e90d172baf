// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/worker.h"

#include "lib/base/local_socket.h"
#include "sidecar/serve/guarded.h"

#include <cerrno>
#include <csignal>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace jprof::serve {

base::Result<Worker> start_worker(const char* purpose,
                                  const std::function<int(base::UniqueFd channel)>& work) {
  JPROF_TRY_ASSIGN(auto ends, base::make_socket_pair(SOCK_SEQPACKET));
  base::UniqueFd& ours = ends[0];
  base::UniqueFd& theirs = ends[1];
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

WorkerEnd wait_for_end(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return {.how = "was lost"};
    }
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const bool memory = signal == SIGKILL;
    return {.how = "was killed by signal " + std::to_string(signal) +
                   (memory ? ", as the kernel does when memory runs out" : ""),
            .memory = memory};
  }
  if (WEXITSTATUS(status) == kNoMemoryLeft) {
    return {.how = "was stopped at its memory limit", .memory = true};
  }
  return {.how = WEXITSTATUS(status) == 0
                     ? ""
                     : "ended with code " + std::to_string(WEXITSTATUS(status))};
}

base::Error error_of(const std::string& who, const WorkerEnd& end) {
  const std::string message = who + ' ' + (end.how.empty() ? "was cut off" : end.how);
  return end.memory
             ? base::make_error(base::ErrorCode::kLimit, message,
                                "raise the memory limit of the jprof container, or leave the "
                                "pod and its node more memory")
             : base::make_error(base::ErrorCode::kInternal, message,
                                "report a bug, with the log of the jprof container");
}

} // namespace jprof::serve
