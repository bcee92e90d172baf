// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// jprof flame [FILE]: folded text to SVG, with the options of flamegraph.pl.
void add_flame(cli::Program& program);

} // namespace jprof::sidecar
