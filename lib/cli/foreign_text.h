// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace jprof::cli {

// Prints what somebody else wrote (a JVM's answer) to stdout: to a file or a pipe the bytes as they
// are; to a person's terminal with the control characters made visible, which a terminal would
// obey, except line feed and tab.
void print_foreign(std::string_view text);

// "PROGRAM: warning: TEXT" on stderr, safe for a terminal: the command goes on, but its result
// lacks something.
void print_warning(const std::string& program, std::string_view text);

} // namespace jprof::cli
