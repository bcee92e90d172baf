// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/error.h"

namespace jprof::base {

// What std::bad_alloc is told as, where it is caught: kLimit, for it is the limit of a process
// (RLIMIT_DATA) or container that was met, and no bug.
inline Error out_of_memory() {
  return make_error(ErrorCode::kLimit, "there is not enough memory",
                    "give jprof, or the container that it runs in, more memory");
}

} // namespace jprof::base
