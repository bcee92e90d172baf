// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// `jprof list`: every JVM that is visible.
void add_list(cli::Program& program);

} // namespace jprof::sidecar
