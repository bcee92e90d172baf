// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "sidecar/jvm/target.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::jvm {

// What was found at one PID. A JVM is a process that has libjvm (or OpenJ9's library) mapped
// executable, whatever its launcher; if we may not see the mappings, the threads' names, which are
// open to everyone, still show that it probably is one.
struct Candidate {
  Target target;
  bool probable = false;             // by its threads' names only
  std::optional<base::Error> denied; // why its mappings are closed to us
};

// Every visible JVM, ascending by PID. Processes that end in the meantime are left out.
base::Result<std::vector<Candidate>> find_jvms(const container::ProcRoot& proc);
base::Result<std::vector<Candidate>> find_jvms();

// The JVM `pid` (as we see it), or the only one there is. `container_id`, unless empty, narrows the
// choice to JVMs of that container; one whose container is unknown counts only if there is no
// other. kTargetNotFound, kNotAJvm, kTargetGone, kIdentityMismatch, or kSeveralTargets, which names
// the candidates.
base::Result<Target> find_one_jvm(const container::ProcRoot& proc, std::optional<pid_t> pid,
                                  std::string_view container_id = {});
base::Result<Target> find_one_jvm(std::optional<pid_t> pid = std::nullopt,
                                  std::string_view container_id = {});

// One process, examined as by `find_jvms`: nothing if it is not a JVM.
base::Result<std::optional<Candidate>> look_at(const container::ProcRoot& proc, pid_t pid);

} // namespace jprof::jvm
