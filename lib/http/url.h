// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace jprof::http {

using base::Result;
using base::Status;

// An absolute http or https URL. Path and query are kept as they were written (percent-encoded):
// what is signed must be, to the byte, what is sent.
struct Url {
  std::string scheme;     // "http" or "https"
  std::string host;       // lower case; an IPv6 address without its brackets
  std::uint16_t port = 0; // 0: the scheme's own
  std::string path = "/"; // starts with '/'
  std::string query;      // without '?'

  bool is_tls() const { return scheme == "https"; }
  std::uint16_t effective_port() const { return port != 0 ? port : (is_tls() ? 443 : 80); }
  // "host" or "host:port": what the Host header says. IPv6 in brackets.
  std::string authority() const;
  std::string to_string() const;
  // The URL without its query (which may hold a signature): the form for messages.
  std::string display() const;
};

// Refuses (kUsage) other schemes, a user or password, a fragment, control characters, spaces,
// anything outside ASCII, and a host or port that cannot be one.
Result<Url> parse_url(std::string_view text);

} // namespace jprof::http
