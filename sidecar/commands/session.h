// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// `jprof session`: relays between one caller's stdin and stdout and serve's socket.
void add_session(cli::Program& program);

} // namespace jprof::sidecar
