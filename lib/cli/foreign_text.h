// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace jprof::cli {

// Prints what somebody else wrote (a JVM's answer) to stdout: to a file or a pipe, the bytes
// unchanged; to a person's terminal, with the control characters that it would obey made visible,
// except line feed and tab.
void print_foreign(std::string_view text);

// "PROGRAM: warning: TEXT" on stderr, safe for a terminal: the command continues, but its result is
// incomplete.
void print_warning(const std::string& program, std::string_view text);

} // namespace jprof::cli
