// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <string>
#include <string_view>

namespace jprof::base {

// "10ms", "1.5s", "2m", "1h30m", "100us"; a bare number is refused with the units named.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);
// The shortest exact form: "10ms", "1m30s".
std::string format_duration(std::chrono::nanoseconds duration);

} // namespace jprof::base
