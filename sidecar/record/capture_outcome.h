// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/capture/measured.h"
#include "sidecar/record/capture_job.h"
#include "sidecar/record/recorder.h"

namespace jprof::record {

// What a finished session says, in the words of a capture's outcome.
void fill_outcome(const RecorderResult& result, CaptureOutcome& out);

// The same as a manifest's `measured`, which is also what people are shown and --json prints.
capture::Measured measured_of(const CaptureOutcome& outcome);

} // namespace jprof::record
