// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cli/program.h"

// One file per command; each adds itself to the program with its options and its handler.
namespace jprof::plugin {

void add_record(cli::Program& program);
void add_fetch(cli::Program& program);
void add_list(cli::Program& program);
void add_doctor(cli::Program& program);
void add_diff(cli::Program& program);
void add_attach(cli::Program& program);
void add_gc(cli::Program& program);

void add_commands(cli::Program& program);

} // namespace jprof::plugin
