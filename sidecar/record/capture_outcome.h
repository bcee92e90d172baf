// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/capture/measured.h"
#include "sidecar/record/capture_job.h"
#include "sidecar/record/recorder.h"

namespace jprof::record {

// Puts what a finished recording says into a capture's outcome.
void fill_outcome(const RecorderResult& result, CaptureOutcome& out);

// The same as a manifest's `measured`, which is also what the summary and --json show.
capture::Measured measured_of(const CaptureOutcome& outcome);

} // namespace jprof::record
