// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::base {

struct Utf8Char {
  char32_t value = 0;
  std::size_t length = 1; // bytes consumed; 1 for an invalid byte
  bool valid = false;     // shortest form, no surrogate, at most U+10FFFF (RFC 3629)
};

// The first character of a text that is not empty.
Utf8Char decode_utf8(std::string_view text);
void append_utf8(std::string& out, char32_t value);
// Invalid bytes become U+FFFD.
std::string sanitize_utf8(std::string_view text);
// The JVM's modified UTF-8 (JVMS 4.4.7: U+0000 as two bytes, supplementary characters as two
// surrogates of three bytes each) to UTF-8; lone surrogates and invalid bytes become U+FFFD.
std::string from_modified_utf8(std::string_view text);

} // namespace jprof::base
