// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/config/sidecar_config.h"
#include "sidecar/serve/process_limits.h"
#include "sidecar/spool/spool.h"

namespace jprof::serve {

// What the supervisor makes once and every child inherits by fork. Outlives them all.
struct ServeContext {
  config::SidecarConfig config;
  spool::Spool spool;
  MemoryPlan memory;
  int wake_fd = -1; // a byte written here tells the supervisor that a capture was sealed
};

} // namespace jprof::serve
