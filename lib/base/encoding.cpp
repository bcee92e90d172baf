// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"

#include "lib/base/hidden_text.h"
#include "lib/base/utf8.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace jprof::base {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_value(char c) {
  const auto at = kBase64.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::string escape_of(char32_t c) {
  switch (c) {
  case '\n':
    return "\\n";
  case '\r':
    return "\\r";
  case '\t':
    return "\\t";
  default:
    break;
  }
  std::array<char, 16> text{};
  const int digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
  std::snprintf(text.data(), text.size(), "\\%c%0*x",
                digits == 2   ? 'x'
                : digits == 4 ? 'u'
                              : 'U',
                digits, static_cast<unsigned>(c));
  return text.data();
}

} // namespace

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto value = static_cast<unsigned char>(c);
    out += kDigits[value >> 4];
    out += kDigits[value & 15];
  }
  return out;
}

std::string hex(std::span<const std::byte> bytes) {
  return hex(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += at + i <= bytes.size() ? kBase64[(group >> (18 - 6 * i)) & 63] : '=';
    }
  }
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  std::string out;
  std::uint32_t group = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (is_space(c)) {
      continue;
    }
    const int value = c == '=' ? 0 : base64_value(c);
    padding += c == '=' ? 1 : 0;
    if (value < 0 || (padding > 0 && c != '=')) {
      return make_failure(ErrorCode::kInvalidData, "not base64");
    }
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (++digits == 4) {
      for (int i = 0; i < 3 - padding; ++i) {
        out += static_cast<char>(group >> (16 - 8 * i) & 0xff);
      }
      group = 0;
      digits = 0;
    }
  }
  if (digits != 0 || padding > 2) {
    return make_failure(ErrorCode::kInvalidData, "base64 text is cut short");
  }
  return out;
}

std::string percent_encode(std::string_view text, Slash slash) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c) || (c == '/' && slash == Slash::kKeep)) {
      out += c;
    } else {
      const auto value = static_cast<unsigned char>(c);
      out += '%';
      out += kDigits[value >> 4];
      out += kDigits[value & 15];
    }
  }
  return out;
}

std::string printable(std::string_view text, std::size_t limit_bytes) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Char c = decode_utf8(text.substr(at));
    std::string piece;
    if (!c.valid) {
      piece = escape_of(static_cast<unsigned char>(text[at]));
    } else if (is_hidden(c.value)) {
      piece = escape_of(c.value);
    } else {
      piece = text.substr(at, c.length);
    }
    if (out.size() + piece.size() > limit_bytes) {
      return out + "...";
    }
    out += piece;
    at += c.length;
  }
  return out;
}

} // namespace jprof::base
