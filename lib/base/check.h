// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

namespace jprof::base {

[[noreturn]] inline void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "jprof: bug: %s:%d: %s\n", file, line, expression);
  std::abort();
}

} // namespace jprof::base

// A broken invariant of our own. Never for input: that is an Error.
#define JPROF_CHECK(expression)                                                                    \
  ((expression) ? static_cast<void>(0)                                                             \
                : ::jprof::base::check_failed(#expression, __FILE__, __LINE__))
