// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <string>
#include <string_view>

namespace jprof::base {

// A ULID (github.com/ulid/spec): 48 bits of Unix milliseconds, 80 random bits, 26 characters of
// Crockford base32. Sorts by time.
Result<std::string> make_ulid(std::chrono::system_clock::time_point now);
bool is_ulid(std::string_view text);

} // namespace jprof::base
