// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/commands/commands.h"

namespace jprof::plugin {

void add_commands([[maybe_unused]] cli::Program& program) {}

} // namespace jprof::plugin
