// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <string>
#include <string_view>

namespace jprof::base {

// RFC 3339 in UTC with whole seconds, years 1970 to 9999: "2026-11-21T10:00:00Z".
std::string format_utc(std::chrono::system_clock::time_point time);
// The same form; a fraction is accepted and dropped, an offset is not (kInvalidData).
Result<std::chrono::system_clock::time_point> parse_utc(std::string_view text);

} // namespace jprof::base
