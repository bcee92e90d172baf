// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/config/sidecar_config.h"
#include "sidecar/serve/process_limits.h"
#include "sidecar/spool/spool.h"

#include <optional>
#include <string>
#include <unistd.h>

namespace jprof::serve {

// What a child tells the supervisor, one byte in a pipe: a child's end alone does not show whose
// child it was once its own supervisor has been killed.
enum class Wake : char {
  kSealed = 's',
  kQuit = 'q', // serve is to end
};

// What the supervisor creates once and every child inherits by fork. Outlives them all.
struct ServeContext {
  config::SidecarConfig config;
  spool::Spool spool;
  MemoryPlan memory;
  bool ends_when_idle = false; // an ephemeral container: it may be told to end
  int wake_fd = -1;
  // Why the configuration could not be used: then `config` is the default, and nothing is recorded.
  std::optional<base::Error> broken;
  // What somebody has done to serve's limits (LimitsWatch); empty: nothing noticed.
  std::string limits_changed;

  // Lost if the supervisor is gone: then there is nobody to tell.
  void wake(Wake what) const {
    const char byte = static_cast<char>(what);
    [[maybe_unused]] const ssize_t wrote = ::write(wake_fd, &byte, 1);
  }
};

} // namespace jprof::serve
