// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"

#include "lib/base/hidden_text.h"
#include "lib/base/utf8.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

namespace jprof::base {
namespace {

constexpr std::size_t kMaxBase64 = std::size_t{1} << 30; // OpenSSL counts in int

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
  // In pieces of a multiple of three, which need no padding.
  constexpr std::size_t kPiece = kMaxBase64 / 4 * 3;
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0'); // OpenSSL ends it with a zero
  std::size_t length = 0;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
    const std::string_view piece = bytes.substr(0, kPiece);
    length += static_cast<std::size_t>(EVP_EncodeBlock(
        reinterpret_cast<unsigned char*>(&out[length]),
        reinterpret_cast<const unsigned char*>(piece.data()), static_cast<int>(piece.size())));
  }
  out.resize(length);
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  // EVP_DecodeBlock takes white space at the ends only, and cuts the text at a '-'.
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits),
               [](char c) { return !is_space(c); });
  const std::size_t padding = digits.size() - std::min(digits.find('='), digits.size());
  if (digits.find('-') != std::string::npos || padding > 2 || digits.size() > kMaxBase64 ||
      digits.find_first_not_of('=', digits.size() - padding) != std::string::npos) {
    return make_failure(ErrorCode::kInvalidData, "not base64");
  }
  std::string out(digits.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(digits.data()),
                                     static_cast<int>(digits.size()));
  if (length != static_cast<int>(out.size())) {
    return make_failure(ErrorCode::kInvalidData, "not base64");
  }
  out.resize(out.size() - padding);
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
