// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/commands.h"

#include "sidecar/commands/convert.h"

namespace jprof::sidecar {

void add_commands(cli::Program& program) {
  add_convert(program);
}

} // namespace jprof::sidecar
