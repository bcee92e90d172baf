// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <functional>
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

} // namespace jprof::serve
