// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/checks/check.h"
#include "sidecar/inject/agent_link.h"
#include "sidecar/jvm/discovery.h"
#include "sidecar/jvm/jvm_facts.h"

#include <cstdint>
#include <optional>
#include <sys/types.h>
#include <vector>

namespace jprof::doctor {

// One process, examined without any side effect: no file, no signal, no connection.
struct Examination {
  pid_t pid = 0;
  std::optional<jvm::Candidate> candidate; // none: no such process, or not a JVM
  jvm::JvmFacts facts;
  std::vector<checks::Check> checks; // in the table's order; predict how attaching would end

  bool ready() const { return checks::exit_code(checks) == 0; }
  // The first check that failed, if any.
  const checks::Check* obstacle() const;
};

// `pod_memory`: the pod's memory limit in bytes; 0 if it is unknown.
Examination examine(jvm::Candidate candidate, const std::optional<inject::SharedVolume>& volume,
                    std::uint64_t pod_memory = 0);
Examination examine(const container::ProcRoot& proc, pid_t pid,
                    const std::optional<inject::SharedVolume>& volume);

} // namespace jprof::doctor
