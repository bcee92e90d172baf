// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/commands.h"

namespace jprof::sidecar {

void add_commands([[maybe_unused]] cli::Program& program) {}

} // namespace jprof::sidecar
