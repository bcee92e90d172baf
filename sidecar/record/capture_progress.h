// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/record/capture_job.h"

#include <string>

namespace jprof::record {

// One line without a newline, safe for a terminal, shown while a capture runs.
std::string progress_text(const CaptureProgress& progress);

} // namespace jprof::record
