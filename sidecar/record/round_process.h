// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "sidecar/record/capture_job.h"
#include "sidecar/record/walker_round.h"

#include <cstdint>
#include <stop_token>
#include <string>

namespace jprof::record {

struct RecordedRound {
  WalkerRound round;
  std::int32_t pid = 0; // of the JVM
  std::string java_version;
};

// Records one round into request.directory, which is empty again afterwards, in a process of its
// own: it enters the sandbox, for good, before it reads what the JVM wrote, and the next round has
// to attach again. It returns a few lines (walker_round.h). After kPartialCapture and kInterrupted
// the round has no result. REQUIRES: this process has no other threads except those that wait for
// signals.
base::Result<RecordedRound> record_round(CaptureRequest request, const std::stop_token& stop);

} // namespace jprof::record
