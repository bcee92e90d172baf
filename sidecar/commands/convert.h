// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// jprof convert IN -o OUT: between formats by file ending.
void add_convert(cli::Program& program);

} // namespace jprof::sidecar
