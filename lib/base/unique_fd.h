// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_resource.h"

#include <unistd.h>

namespace jprof::base {

struct FdTraits {
  using Handle = int;
  static int invalid() { return -1; }
  static void close(int fd) { ::close(fd); }
};

// Owns a file descriptor. An error of close() goes unnoticed: code that wrote data calls fsync
// first.
using UniqueFd = UniqueResource<FdTraits>;

} // namespace jprof::base
