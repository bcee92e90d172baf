// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// `jprof attach PID COMMAND`: a command to a JVM.
void add_attach(cli::Program& program);

} // namespace jprof::sidecar
