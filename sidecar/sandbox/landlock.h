// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"
#include "sidecar/sandbox/sandbox.h"

namespace jprof::sandbox {

// A set of rules for these paths; invalid, with errno, if the kernel has no Landlock that can move
// files between folders (before 5.19). Paths that do not exist are skipped.
base::UniqueFd make_path_rules(const Paths& paths);
// For the calling thread and its children. 0 or an errno; async-signal-safe. REQUIRES:
// no_new_privs.
int obey_path_rules(int rules);

} // namespace jprof::sandbox
