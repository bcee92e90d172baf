// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/record/capture_job.h"
#include "sidecar/record/recorder.h"

#include <string>

namespace jprof::record {

// What is to be said of a capture that cost more than --max-overhead; at most one is not empty.
struct Overhead {
  std::string
      warning;      // what lasted as long as the capture costs more, or what was done once is much
  std::string note; // only what every capture does once costs more, because this one was short
};

// Once the result's coverage and duration are known. The limit is a share of the CPU time that the
// JVM used, or of a tenth of a CPU where it used less, as the agent has it (OverheadLimit). Silent
// where the cost is less than a thousandth of a CPU, and where nobody knows what the JVM used.
Overhead judge_overhead(const RecorderResult& result, const AgentCost& cost);

} // namespace jprof::record
