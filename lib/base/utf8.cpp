// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/utf8.h"

#include <array>

namespace jprof::base {
namespace {

constexpr char32_t kReplacement = 0xfffd;

// Decodes the bits of one sequence without judging what they mean; length 0 if it is malformed.
Utf8Char decode_bits(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) {
    return {lead, 1, true};
  }
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc0 || lead > 0xf7 || text.size() < length) {
    return {0, 1, false};
  }
  constexpr std::array<unsigned char, 5> kMask{0, 0, 0x1f, 0x0f, 0x07};
  char32_t value = lead & kMask[length];
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) {
      return {0, 1, false};
    }
    value = value << 6 | (next & 0x3f);
  }
  return {value, length, true};
}

bool is_surrogate(char32_t value) {
  return value >= 0xd800 && value <= 0xdfff;
}

} // namespace

Utf8Char decode_utf8(std::string_view text) {
  const Utf8Char c = decode_bits(text);
  constexpr std::array<char32_t, 5> kMin{0, 0, 0x80, 0x800, 0x10000};
  if (!c.valid || c.value < kMin[c.length] || c.value > 0x10ffff || is_surrogate(c.value)) {
    return {0, 1, false};
  }
  return c;
}

void append_utf8(std::string& out, char32_t value) {
  const auto put = [&out](char32_t bits) { out += static_cast<char>(bits); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xc0 | value >> 6);
    put(0x80 | (value & 0x3f));
  } else if (value < 0x10000) {
    put(0xe0 | value >> 12);
    put(0x80 | (value >> 6 & 0x3f));
    put(0x80 | (value & 0x3f));
  } else {
    put(0xf0 | value >> 18);
    put(0x80 | (value >> 12 & 0x3f));
    put(0x80 | (value >> 6 & 0x3f));
    put(0x80 | (value & 0x3f));
  }
}

std::string sanitize_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    append_utf8(out, c.valid ? c.value : kReplacement);
    text.remove_prefix(c.length);
  }
  return out;
}

std::string from_modified_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = decode_bits(text);
    text.remove_prefix(c.length);
    char32_t value = c.valid ? c.value : kReplacement;
    if (c.valid && value >= 0xd800 && value < 0xdc00 && !text.empty()) {
      const Utf8Char low = decode_bits(text);
      if (low.valid && low.value >= 0xdc00 && low.value <= 0xdfff) {
        value = 0x10000 + ((value - 0xd800) << 10) + (low.value - 0xdc00);
        text.remove_prefix(low.length);
      }
    }
    append_utf8(out, is_surrogate(value) || value > 0x10ffff ? kReplacement : value);
  }
  return out;
}

} // namespace jprof::base
