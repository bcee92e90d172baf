// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/container/as_target.h"
#include "sidecar/container/maps.h"
#include "sidecar/container/process.h"

#include <string>
#include <sys/types.h>

namespace jprof::jvm {

// One JVM, held so that its PID cannot come to mean another process. Movable.
struct Target {
  container::Process process;
  container::ProcessStatus status; // at discovery: the process may have changed since
  container::LoadedVm vm;

  pid_t pid() const { return process.pid(); }
  // What the JVM calls itself: in the names of its attach socket and trigger.
  pid_t innermost_pid() const { return status.innermost_pid(); }
  container::Identity identity() const { return {status.effective_uid, status.effective_gid}; }
  std::string name() const { return "pid " + std::to_string(pid()); }
};

} // namespace jprof::jvm
