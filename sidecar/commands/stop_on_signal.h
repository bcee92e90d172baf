// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"

#include <csignal>
#include <stop_token>
#include <string>
#include <thread>

namespace jprof::sidecar {

// Turns the first SIGINT, SIGTERM or SIGHUP into a stop request. The second one is answered on
// stderr with what is being done; the third one ends the process as if this had never existed.
// Create it before other threads: it blocks the signals for all of them. Restores the mask when it
// is destroyed. Without free descriptors, a signal ends the process as usual.
class StopOnSignal {
 public:
  // `what`: "the recording is being finished", and what ending it at once costs, if anything.
  explicit StopOnSignal(std::string what, std::string costs = {});
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  void watch(std::stop_token ended);
  void tell() const;

  std::string what_;
  std::string costs_;
  sigset_t before_{};
  sigset_t signals_{};
  base::UniqueFd signal_fd_;
  base::UniqueFd wake_fd_;
  std::stop_source source_;
  std::jthread watcher_;
};

} // namespace jprof::sidecar
