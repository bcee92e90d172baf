// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/record/capture_job.h"
#include "sidecar/record/recorder.h"

#include <string>

namespace jprof::record {

// What to tell the user about a capture that cost more than --max-overhead; at most one is not
// empty.
struct Overhead {
  std::string warning; // the recurring cost is above the limit, or the one-time cost is high
  std::string note;    // only the one-time cost is above the limit, because the capture was short
};

// REQUIRES: the result's coverage and duration are known. The limit is a share of the CPU time that
// the JVM used, or of a tenth of a CPU if it used less, as in the agent (OverheadLimit). Both are
// empty if the cost is less than a thousandth of a CPU, or if it is unknown what the JVM used.
Overhead judge_overhead(const RecorderResult& result, const AgentCost& cost);

} // namespace jprof::record
