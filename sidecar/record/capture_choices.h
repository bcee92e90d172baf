// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/wire/region.h"
#include "sidecar/record/capture_job.h"
#include "sidecar/record/recorder.h"

#include <string>

// What the words in a request mean. Any thread; no state.
namespace jprof::record {

// kUsage for an unknown name.
base::Result<wire::Walker> walker_of(const std::string& name);
// Timers keep intervals of several ticks exactly and cost less; perf's clock keeps shorter ones.
base::Result<wire::Engine> engine_of(const CaptureRequest& request);
// kUsage for a request that cannot be recorded, before anything is done.
base::Status check_request(const CaptureRequest& request);
// All that the request decides. REQUIRES: check_request() has passed.
RecorderOptions options_of(const CaptureRequest& request);

} // namespace jprof::record
