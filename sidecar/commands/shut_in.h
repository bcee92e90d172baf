// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace jprof::sidecar {

// For a command that reads files of anybody's making, once it knows its arguments and before it
// opens the first: from now on there are only these inputs, and what it takes to write these
// outputs ("-" is what is open already). Where the kernel has no part of it (sandbox/sandbox.h),
// the command works without, as any other program would; `jprof doctor` says so.
void shut_in(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

} // namespace jprof::sidecar
