// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// `jprof doctor [PID]`: what stands in the way of profiling.
void add_doctor(cli::Program& program);

} // namespace jprof::sidecar
