// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// `jprof open --viewer`: writes the page that shows captures which are dropped onto it.
void add_open(cli::Program& program);

} // namespace jprof::sidecar
