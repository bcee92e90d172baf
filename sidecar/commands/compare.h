// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// `jprof compare`: the same JVM seen by each stack walker in turn, method by method.
void add_compare(cli::Program& program);

} // namespace jprof::sidecar
