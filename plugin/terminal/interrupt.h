// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <array>
#include <atomic>
#include <memory>

namespace jprof::plugin {

// Ctrl-C as something to poll. The first one means "stop, and keep what there is", the second "give
// up". Thread-safe: any number of threads may wait, since a pipe that is readable once stays so.
class Interrupt {
 public:
  static base::Result<std::unique_ptr<Interrupt>> create();

  // How often it was asked to stop.
  int count() const { return count_.load(); }
  // Readable once count() > seen; -1 if no more are distinguished (seen >= 2).
  int wake_fd(int seen) const;
  // One more. Async-signal-safe.
  void raise();

  // From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored, as under nohup) raise this one; a
  // third one ends the process with 130. It must live as long as the process.
  void install();

 private:
  Interrupt() = default;

  struct Pipe {
    base::UniqueFd read;
    base::UniqueFd write;
  };
  std::array<Pipe, 2> pipes_;
  std::atomic<int> count_{0};
};

} // namespace jprof::plugin
