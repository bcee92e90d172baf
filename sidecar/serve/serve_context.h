// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/config/sidecar_config.h"
#include "sidecar/serve/process_limits.h"
#include "sidecar/spool/spool.h"

#include <optional>

namespace jprof::serve {

// What the supervisor makes once and every child inherits by fork. Outlives them all.
struct ServeContext {
  config::SidecarConfig config;
  spool::Spool spool;
  MemoryPlan memory;
  bool ends_when_idle = false; // an ephemeral container: it may be told to end
  int wake_fd = -1;            // a byte written here tells the supervisor that a capture was sealed
  // Why the configuration could not be used: then `config` is the default, and nothing is recorded.
  std::optional<base::Error> broken;
};

} // namespace jprof::serve
