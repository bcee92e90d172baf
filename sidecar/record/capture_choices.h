// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/wire/region.h"
#include "sidecar/record/capture_job.h"

#include <string>

// What a request's words stand for. Any thread; nothing is kept.
namespace jprof::record {

// kUsage for a name that there is not.
base::Result<wire::Walker> walker_of(const std::string& name);
// Timers keep intervals of several ticks exactly and cost less; perf's clock keeps shorter ones.
base::Result<wire::Engine> engine_of(const CaptureRequest& request);
// kUsage for what cannot be recorded; nothing has been done by then.
base::Status check_request(const CaptureRequest& request);

} // namespace jprof::record
