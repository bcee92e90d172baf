// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace jprof::http {

// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, section 5.6.7, the form that servers must send).
// Empty for everything else.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text);

} // namespace jprof::http
