// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <functional>
#include <string>
#include <sys/types.h>

namespace jprof::serve {

// A child process and our end of the channel to it, which keeps packets apart: one that has no room
// is dropped whole.
struct Worker {
  pid_t pid = -1;
  base::UniqueFd channel;
};

// Forks; the child runs `work` with its end of the channel, guarded, and ends with its result.
// `purpose` is for the error: "a capture". REQUIRES: this process has one thread.
base::Result<Worker> start_worker(const char* purpose,
                                  const std::function<int(base::UniqueFd channel)>& work);

// How a worker ended.
struct WorkerEnd {
  std::string how; // "was killed by signal 11"; empty if it ended in order
  bool memory = false;
};

// Waits for the end of a child; EINTR is retried.
WorkerEnd wait_for_end(pid_t child);

// Of a worker that ended without an answer. kLimit for lack of memory: the kernel chooses ours
// first (docs/design/memory.md), so that is how it is meant to end. All else is kInternal.
base::Error error_of(const std::string& who, const WorkerEnd& end);

} // namespace jprof::serve
