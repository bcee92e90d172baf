// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/container/cgroup.h"
#include "sidecar/jvm/java_command.h"
#include "sidecar/jvm/jvm_release.h"
#include "sidecar/jvm/target.h"

#include <chrono>

namespace jprof::jvm {

// What can be known about a JVM from outside without touching it. Strings are the target's.
struct JvmFacts {
  JvmRelease release;
  JavaCommand command;
  JvmFlags flags;
  container::ContainerIds ids;
  std::chrono::seconds uptime{0};
};

// Reads through the target's root, bounded; what cannot be read stays empty.
JvmFacts read_facts(const Target& target);

} // namespace jprof::jvm
