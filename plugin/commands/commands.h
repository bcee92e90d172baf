// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

#include <string>
#include <vector>

// One file per command; each adds itself to the program with its options and its handler.
namespace jprof::plugin {

void add_record(cli::Program& program);
void add_fetch(cli::Program& program);
void add_list(cli::Program& program);
void add_doctor(cli::Program& program);
void add_diff(cli::Program& program);
void add_attach(cli::Program& program);
void add_gc(cli::Program& program);
void add_open(cli::Program& program);

void add_commands(cli::Program& program);

// Completion for kubectl: candidates for the last of the words, and what a shell may add itself.
// Asks the cluster for names, for at most two seconds.
int print_candidates(cli::Program& program, const std::vector<std::string>& words);

} // namespace jprof::plugin
