// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/child_process.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jprof::testing {

struct JvmOptions {
  std::string part = "jdk-17";      // of scripts/parts
  std::vector<std::string> prefix;  // a launcher before it: {"unshare", "--mount"}
  std::vector<std::string> options; // of the JVM
  std::string main = "Idle";        // in JPROF_TEST_CLASSES
  std::string run_as;               // "UID:GID", needs root
};

// A real JVM of a part, running one of the test workloads. Nothing where the part was never made
// (scripts/parts NAME makes it): the test skips then.
std::unique_ptr<ChildProcess> start_jvm(const JvmOptions& options);
// The same, and waits until the workload said "ready".
std::unique_ptr<ChildProcess> start_ready_jvm(const JvmOptions& options);
// The folder of a part, if it was made.
std::optional<std::string> part_directory(const std::string& name);

} // namespace jprof::testing
