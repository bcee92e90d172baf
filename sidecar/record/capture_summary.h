// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "sidecar/record/capture_job.h"

#include <string>

// What a person, and what a program is told of a finished capture.
namespace jprof::record {

// Several lines, each ended; safe for a terminal. Does not name the files.
std::string summary_text(const CaptureOutcome& outcome);
// One object: counts, rates, losses, cost, hottest methods, files; times in nanoseconds.
base::Json summary_json(const CaptureOutcome& outcome);

// One line without its end, for a terminal while it runs.
std::string progress_text(const CaptureProgress& progress);

} // namespace jprof::record
