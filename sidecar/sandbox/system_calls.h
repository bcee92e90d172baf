// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/sandbox/sandbox.h"

namespace jprof::sandbox {

// Allows all threads of this process the system calls in the list of system_calls.cpp and no
// others. 0, or an errno. REQUIRES, like the next function: no_new_privs.
int allow_few_system_calls();
// Refuses them what the other list there names, and allows the rest. 0, or an errno.
int refuse_some_system_calls(Network network);

} // namespace jprof::sandbox
