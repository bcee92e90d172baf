// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/wire/control.h"

namespace jprof::agent::recording {

// Copies whatever names the functions of the module at `wanted.base` from the process's memory into
// `fd`, for a sidecar that cannot open the module's file. The kernel does the copying (pwrite), so
// nothing is mapped or allocated, and unreadable memory costs only that piece; the loader's lock
// keeps the module mapped meanwhile. Writes only to a file that is fully allocated, because a new
// page would be charged to the JVM. Agent's thread.
wire::SymbolsMessage copy_symbols(const wire::SymbolsWantedMessage& wanted, int fd);

} // namespace jprof::agent::recording
