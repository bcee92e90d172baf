// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace jprof::cli {

// A program's commands, options and exit codes as a man page (man(7) macros), from what --help
// prints. The same text on every machine: no date, no path, no environment.
std::string manual_of(const CLI::App& program, const std::string& default_command);

} // namespace jprof::cli
