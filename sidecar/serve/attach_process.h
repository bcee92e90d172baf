// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/protocol/frame.h"
#include "lib/protocol/request.h"
#include "sidecar/serve/serve_context.h"
#include "sidecar/serve/worker.h"

#include <string>
#include <sys/types.h>

namespace jprof::serve {

// One command for a JVM, in a separate process: it alone reads what the JVM answers. Its answer is
// a file that it hands over. One thread.
class AttachProcess {
 public:
  struct Answer {
    protocol::Frame frame; // kResult or kError
    base::UniqueFd file;   // of kResult: what its one file holds
  };

  // Forks. REQUIRES: this process has one thread.
  static base::Result<AttachProcess> start(const ServeContext& context,
                                           const protocol::AttachRequest& request);

  // Readable when there is an answer, or when there will be none.
  int fd() const { return channel_.get(); }
  // Waits for the process's end; returns error_of() that if it died without an answer.
  base::Result<Answer> finish();
  // Stops waiting for the JVM: an answer comes soon (kInterrupted).
  void stop() const;

 private:
  explicit AttachProcess(Worker worker) : pid_(worker.pid), channel_(std::move(worker.channel)) {}
  pid_t pid_;
  base::UniqueFd channel_;
};

// The other end: one packet with the frame and, unless `file` is -1, that descriptor.
void send_answer(int channel, protocol::FrameType type, const std::string& payload, int file);

} // namespace jprof::serve
