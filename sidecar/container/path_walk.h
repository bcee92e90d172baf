// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"

#include <string_view>

namespace jprof::container {

// Resolves `path` below the directory `root` as openat2's RESOLVE_IN_ROOT would, but without
// openat2: one O_PATH | O_NOFOLLOW step per component; symbolic links are read and followed here,
// and ".." returns to the directory that we came from. Flags as for open(2): O_PATH, and O_NOFOLLOW
// for the last component. Invalid, with errno set, if it fails (ELOOP after 40 links,
// ENAMETOOLONG).
base::UniqueFd walk_in_root(int root, std::string_view path, int flags);

} // namespace jprof::container
