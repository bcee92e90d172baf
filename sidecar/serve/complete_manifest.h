// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/capture/manifest.h"
#include "sidecar/record/capture_job.h"

namespace jprof::serve {

// The draft, completed with what the recorder found out, ready to be sealed: its `measured` holds
// integers in the unit of their name, and names unchanged (docs/formats/capture.md).
capture::Manifest complete_manifest(capture::Manifest draft, const record::CaptureOutcome& outcome);

} // namespace jprof::serve
