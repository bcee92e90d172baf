// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/protocol/frame.h"
#include "lib/protocol/reply.h"
#include "lib/protocol/request.h"
#include "sidecar/serve/serve_context.h"
#include "sidecar/serve/worker.h"

#include <optional>
#include <sys/types.h>

namespace jprof::serve {

// One capture in a separate process, with a memory limit: it alone reads what the JVM and its agent
// wrote. It continues after the process that started it is gone, seals what it has on SIGTERM, and
// leaves nothing running. One thread.
class CaptureProcess {
 public:
  // Forks. REQUIRES: this process has one thread.
  static base::Result<CaptureProcess> start(ServeContext& context,
                                            const protocol::RecordRequest& request);

  // Readable when there is a frame to receive.
  int fd() const { return channel_.get(); }
  pid_t pid() const { return pid_; }

  // The next frame: kProgress, kEnd (sealed) or kError; nothing if there is none yet. An error
  // means that the process ended without kEnd or kError.
  base::Result<std::optional<protocol::Frame>> receive();
  void cancel(protocol::CancelMode mode);
  // Waits for the end.
  WorkerEnd reap() { return wait_for_end(pid_); }

 private:
  explicit CaptureProcess(Worker worker) : pid_(worker.pid), channel_(std::move(worker.channel)) {}
  pid_t pid_;
  base::UniqueFd channel_;
};

} // namespace jprof::serve
