// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace jprof::base {

std::string hex(std::span<const std::byte> bytes);
std::string hex(std::string_view bytes);
// RFC 4648 section 4, padded.
std::string base64_encode(std::string_view bytes);
// Accepts padded standard base64, white space between groups allowed (kubeconfig, PEM bodies).
Result<std::string> base64_decode(std::string_view text);
// RFC 3986: everything but A-Z a-z 0-9 - . _ ~ becomes %XX (upper case).
enum class Slash { kEncode, kKeep };
std::string percent_encode(std::string_view text, Slash slash = Slash::kEncode);

// Text of unknown origin made safe for a terminal or a log line: control characters (C0, DEL, C1),
// bidirectional controls and invalid UTF-8 become visible escapes (\n, \x1b, \u202e); longer than
// `limit_bytes` is cut at a character and ends in "...".
std::string printable(std::string_view text, std::size_t limit_bytes = 256);

} // namespace jprof::base
