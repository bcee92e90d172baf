// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace jprof::base {

// Characters that are invisible and change what is around them: controls (C0, DEL, C1: U+009B
// begins an escape sequence), line and paragraph separators, direction marks, soft hyphens,
// joiners, fillers, tags. In a name they make it look like another one. Variation selectors (U+FE00
// to U+FE0F) are left: an emoji remains the same with them.
constexpr bool is_hidden(char32_t c) {
  if (c < 0xa0) {
    return c < 0x20 || c >= 0x7f;
  }
  struct Range {
    char32_t first;
    char32_t last;
  };
  constexpr Range kRanges[] = {
      {0xad, 0xad},     {0x34f, 0x34f},   {0x61c, 0x61c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},
      {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},
      {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  for (const Range& range : kRanges) {
    if (c >= range.first && c <= range.last) {
      return true;
    }
  }
  return false;
}

} // namespace jprof::base
