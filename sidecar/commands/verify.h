// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

namespace jprof::sidecar {

// `jprof verify [DIRECTORY]...`: compares captures with their manifests, byte by byte.
void add_verify(cli::Program& program);

} // namespace jprof::sidecar
