// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// jprof record [PID] --duration 10s -o FILE: one capture of one JVM.
void add_record(cli::Program& program);

} // namespace jprof::sidecar
