// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace jprof::plugin {

// All of `kubectl-jprof` but the name main: takes what main takes, returns the exit code. Call it
// only once.
int run_program(int argc, char** argv);

} // namespace jprof::plugin
