// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"

#include <string_view>

namespace jprof::container {

// Resolves `path` below the directory `root` as openat2's RESOLVE_IN_ROOT would, without openat2:
// one O_PATH | O_NOFOLLOW step a component, symbolic links read and followed here, ".." by going
// back to the directory that we came from. Flags as for open(2): O_PATH, and O_NOFOLLOW for the
// last component. Invalid and errno set where it fails (ELOOP after 40 links, ENAMETOOLONG).
base::UniqueFd walk_in_root(int root, std::string_view path, int flags);

} // namespace jprof::container
