// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace jprof::sidecar {

// All of `jprof` but the name main: takes what main takes, returns the exit code. To be called
// once, first of all: it makes the process non-dumpable.
int run_program(int argc, char** argv);

} // namespace jprof::sidecar
