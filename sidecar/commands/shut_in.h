// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace jprof::sidecar {

// For a command that reads files from anybody, once it knows its arguments and before it opens the
// first one: from now on it can reach only these inputs, and what it needs to write these outputs
// ("-" is what is already open). If the kernel lacks some of this (sandbox/sandbox.h), the command
// works without it, as any other program would; `jprof doctor` says so.
void shut_in(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

} // namespace jprof::sidecar
