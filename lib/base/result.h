// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/error.h"

#include <tl/expected.hpp>

#include <utility>

namespace jprof::base {

// The one way to report failure: a value or an Error. Becomes std::expected with C++23. Use:
//   Result<int> parse(...);  return make_failure(ErrorCode::kUsage, "no such unit: x");
//   JPROF_TRY(status_returning_call());
//   JPROF_TRY_ASSIGN(const int value, parse(...));
template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

inline tl::unexpected<Error> make_failure(ErrorCode code, std::string message,
                                          std::string cure = {}) {
  return fail(make_error(code, std::move(message), std::move(cure)));
}

inline tl::unexpected<Error> errno_failure(int os_errno, std::string message) {
  return fail(errno_error(os_errno, std::move(message)));
}

} // namespace jprof::base

#define JPROF_CONCAT_INNER(a, b) a##b
#define JPROF_CONCAT(a, b) JPROF_CONCAT_INNER(a, b)

// Returns the Error of `expression` from the enclosing function, if it has one.
#define JPROF_TRY(expression)                                                                      \
  do {                                                                                             \
    if (auto jprof_status = (expression); !jprof_status) {                                         \
      return ::jprof::base::fail(std::move(jprof_status).error());                                 \
    }                                                                                              \
  } while (false)

#define JPROF_TRY_ASSIGN_INNER(result, declaration, expression)                                    \
  auto result = (expression);                                                                      \
  if (!result) {                                                                                   \
    return ::jprof::base::fail(std::move(result).error());                                         \
  }                                                                                                \
  declaration = std::move(*result)

// Declares or assigns `declaration` from the value of `expression`, or returns its Error.
#define JPROF_TRY_ASSIGN(declaration, expression)                                                  \
  JPROF_TRY_ASSIGN_INNER(JPROF_CONCAT(jprof_result_, __LINE__), declaration, expression)
