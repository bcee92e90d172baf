// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"

#include <string_view>

namespace jprof::render {

// Whether a text looks like the output of `perf script` (it has a sample header).
bool looks_like_perf_script(std::string_view text);

// Output of `perf script` as a profile with times and threads. Only the first event is read, as
// other tools do; samples of others are counted in the facts. The weight is the period if the event
// counts nanoseconds (cpu-clock, task-clock), and otherwise one per sample. The command's name is
// the root frame. kInvalidData if there is no sample.
base::Result<profile::Profile> read_perf_script(std::string_view text, std::string_view title);

} // namespace jprof::render
