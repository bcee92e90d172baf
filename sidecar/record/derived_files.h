// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/record/capture_job.h"

#include <string>
#include <vector>

namespace jprof::record {

// Makes the files that the request asks for from the sealed recording (`outcome.recording`) and
// nothing else: what is derived now is what convert gives later. Adds what it has made to
// `outcome.files`, and what it could not make to `outcome.file_errors`. Gives the paths of what it
// has written.
std::vector<std::string> derive_files(const CaptureRequest& request, CaptureOutcome& outcome);

} // namespace jprof::record
