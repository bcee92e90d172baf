// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/store/object_store.h"

#include <memory>
#include <string>

namespace jprof::store {

// Objects as files beneath `directory`, which is made (0750) when something is first stored; object
// files are 0640. Keys are walked by openat without following a link, a new object is written
// aside, synced, hard-linked into place (which refuses an existing name) and its directories are
// synced. What a killed writer left aside is removed by the next one that writes beside it. Works
// on every POSIX system.
std::unique_ptr<ObjectStore> make_file_store(std::string directory);

} // namespace jprof::store
