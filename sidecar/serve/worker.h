// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <functional>
#include <string>
#include <sys/types.h>

namespace jprof::serve {

// A child process and our end of the channel to it, which preserves packets: one that does not fit
// is dropped whole.
struct Worker {
  pid_t pid = -1;
  base::UniqueFd channel;
};

// Forks; the child runs `work` with its end of the channel, guarded, and exits with its result.
// `purpose` is for the error: "a capture". REQUIRES: this process has one thread.
base::Result<Worker> start_worker(const char* purpose,
                                  const std::function<int(base::UniqueFd channel)>& work);

// How a worker ended.
struct WorkerEnd {
  std::string how; // "was killed by signal 11"; empty if it ended normally
  bool memory = false;
};

// Waits for the end of a child; EINTR is retried.
WorkerEnd wait_for_end(pid_t child);

// For a worker that ended without an answer. kLimit for lack of memory: the kernel chooses ours
// first (docs/design/memory.md), so that is how it is meant to end. Everything else is kInternal.
base::Error error_of(const std::string& who, const WorkerEnd& end);

} // namespace jprof::serve
