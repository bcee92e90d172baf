// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/record/capture_job.h"

#include <string>
#include <vector>

namespace jprof::record {

// Makes the files that the request asks for, from the sealed recording (`outcome.recording`) alone,
// so that they are the same as those that convert makes later. Adds the files it has made to
// `outcome.files`, and those it could not make to `outcome.file_errors`. Returns the paths of what
// it has written.
std::vector<std::string> derive_files(const CaptureRequest& request, CaptureOutcome& outcome);

} // namespace jprof::record
