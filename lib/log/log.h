// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// The one log of a program, on standard error. Only programs' commands and daemon loops log;
// libraries return Errors. Every argument is made printable (base::printable) before it is written,
// so that a name from a target can neither forge a line nor move a terminal's cursor. Thread-safe.
namespace jprof::log {

enum class Level { kDebug, kInfo, kWarning, kError };
enum class Format { kText, kJson }; // a person's terminal; a pod's log

void configure(Level least, Format format);

void debug(std::string_view message);
void info(std::string_view message);
void warning(std::string_view message);
void error(std::string_view message);

} // namespace jprof::log
