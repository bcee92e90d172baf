// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

#include <string_view>

// One file per command; each adds itself to the program with its options and its handler.
namespace jprof::sidecar {

// All commands, or only the one that `first_word` names: a command line is parsed many times faster
// if the other ten commands and their options need not be created.
void add_commands(cli::Program& program, std::string_view first_word);

} // namespace jprof::sidecar
