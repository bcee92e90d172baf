// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/container/process.h"
#include "sidecar/record/headroom.h"
#include "sidecar/record/recorder.h"

#include <optional>

namespace jprof::record {

// Says that the kernel ended a process for lack of memory, and the cure; empty if nothing indicates
// it. Goes by the OOM kills since `headroom` was made. Waits up to Process::kEndTime for the end.
std::optional<Ending> oom_kill_of(const container::Process& process,
                                  const std::optional<Headroom>& headroom, bool forced);

} // namespace jprof::record
