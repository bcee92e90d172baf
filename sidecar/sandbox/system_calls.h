// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace jprof::sandbox {

// Allows all threads of this process the system calls of the list in system_calls.cpp and nothing
// else. 0, or an errno. REQUIRES: no_new_privs.
int allow_few_system_calls();

} // namespace jprof::sandbox
