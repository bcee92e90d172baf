// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// jprof diff BASE CHANGED: what changed between two captures.
void add_diff(cli::Program& program);

} // namespace jprof::sidecar
