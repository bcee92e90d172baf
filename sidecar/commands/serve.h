// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// `jprof serve`: the daemon of the container.
void add_serve(cli::Program& program);

} // namespace jprof::sidecar
