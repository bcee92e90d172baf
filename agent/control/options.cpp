// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/control/options.h"

namespace jprof::agent {
namespace {

struct Span {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

bool is(const Span& span, const char* text) {
  const char* c = span.begin;
  for (; c != span.end && *text != 0; ++c, ++text) {
    if (*c != *text) {
      return false;
    }
  }
  return c == span.end && *text == 0;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool parse_nonce(const Span& value, std::uint8_t (&nonce)[wire::kNonceBytes]) {
  if (value.size() != 2 * wire::kNonceBytes) {
    return false;
  }
  for (std::size_t i = 0; i < wire::kNonceBytes; ++i) {
    const int high = hex_digit(value.begin[2 * i]);
    const int low = hex_digit(value.begin[2 * i + 1]);
    if (high < 0 || low < 0) {
      return false;
    }
    nonce[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return true;
}

bool parse_socket(const Span& value, char (&socket)[kMaxSocketPath]) {
  if (value.size() == 0 || value.size() >= kMaxSocketPath || *value.begin != '/') {
    return false;
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    socket[i] = value.begin[i];
  }
  socket[value.size()] = 0;
  return true;
}

const char* find(const char* begin, const char* end, char wanted) {
  while (begin != end && *begin != wanted) {
    ++begin;
  }
  return begin;
}

} // namespace

bool parse_options(const char* text, Options* options) {
  if (text == nullptr || *text == 0) {
    return true;
  }
  std::size_t length = 0;
  while (text[length] != 0) {
    if (++length > wire::kMaxOptionBytes) {
      return false;
    }
  }
  bool has_nonce = false;
  const char* const end = text + length;
  for (const char* at = text; at < end;) {
    const char* const comma = find(at, end, ',');
    const char* const equals = find(at, comma, '=');
    const Span key{at, equals};
    const Span value{equals == comma ? comma : equals + 1, comma};
    if (is(key, wire::kOptionSocket)) {
      if (!parse_socket(value, options->socket)) {
        return false;
      }
      options->has_session = true;
    } else if (is(key, wire::kOptionNonce)) {
      if (!parse_nonce(value, options->nonce)) {
        return false;
      }
      has_nonce = true;
    } else if (is(key, wire::kOptionVersion) && !is(value, "1")) {
      return false;
    }
    at = comma == end ? end : comma + 1;
  }
  return options->has_session == has_nonce;
}

} // namespace jprof::agent
