// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/error.h"

namespace jprof::base {

// How std::bad_alloc is reported where it is caught: kLimit, because the limit of a process
// (RLIMIT_DATA) or container was reached, which is not a bug.
inline Error out_of_memory() {
  return make_error(ErrorCode::kLimit, "there is not enough memory",
                    "give jprof, or the container that it runs in, more memory");
}

} // namespace jprof::base
