// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/record/capture_job.h"
#include "sidecar/record/recorder.h"

namespace jprof::record {

// What a finished session says, in the words of a capture's outcome.
void fill_outcome(const RecorderResult& result, CaptureOutcome& out);

} // namespace jprof::record
