// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// `jprof spool`: what waits in the spool, and the totals.
void add_spool(cli::Program& program);

} // namespace jprof::sidecar
