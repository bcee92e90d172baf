// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/url.h"

#include "lib/base/encoding.h"
#include "lib/base/text.h"

#include <algorithm>
#include <charconv>

namespace jprof::http {
namespace {

constexpr std::size_t kMaxUrlLength = 16 * 1024;

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_host_name(std::string_view host) {
  return !host.empty() && host.size() <= 253 && host.front() != '-' &&
         std::all_of(host.begin(), host.end(),
                     [](char c) { return is_alnum(c) || c == '.' || c == '-' || c == '_'; });
}

bool is_ipv6(std::string_view host) {
  return host.size() >= 2 && host.size() <= 45 &&
         std::all_of(host.begin(), host.end(),
                     [](char c) {
                       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' ||
                              c == '.';
                     }) &&
         std::count(host.begin(), host.end(), ':') >= 2;
}

tl::unexpected<base::Error> refuse(std::string_view why) {
  // The text itself is not repeated: it may hold a password or a signature.
  return base::make_failure(base::ErrorCode::kUsage, "not a usable URL: " + std::string(why));
}

Status parse_port(std::string_view text, Url& url) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), url.port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || url.port == 0) {
    return refuse("the port is not a number from 1 to 65535");
  }
  return {};
}

Status parse_authority(std::string_view text, Url& url) {
  if (text.find('@') != std::string_view::npos) {
    return refuse("a user name or password does not belong in it");
  }
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) {
      return refuse("the bracket of the IPv6 address is not closed");
    }
    url.host = base::lowered(text.substr(1, close - 1));
    const std::string_view rest = text.substr(close + 1);
    has_port = !rest.empty();
    if (!is_ipv6(url.host) || (has_port && rest.front() != ':')) {
      return refuse("the IPv6 address is malformed");
    }
    port = has_port ? rest.substr(1) : rest;
  } else {
    const auto colon = text.find(':');
    has_port = colon != std::string_view::npos;
    url.host = base::lowered(text.substr(0, colon));
    port = has_port ? text.substr(colon + 1) : std::string_view();
    if (!is_host_name(url.host)) {
      return refuse("the host name is malformed");
    }
  }
  return has_port ? parse_port(port, url) : Status();
}

} // namespace

std::string Url::authority() const {
  std::string out = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != 0 && port != (is_tls() ? 443 : 80)) {
    out += ":" + std::to_string(port);
  }
  return out;
}

std::string Url::display() const {
  return scheme + "://" + authority() + path;
}

std::string Url::to_string() const {
  return query.empty() ? display() : display() + "?" + query;
}

Result<Url> parse_url(std::string_view text) {
  if (text.size() > kMaxUrlLength) {
    return refuse("it is longer than 16 KiB");
  }
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c >= '\x7f'; })) {
    return refuse("it holds a space, a control character or a byte outside ASCII");
  }
  const auto scheme_end = text.find("://");
  Url url;
  url.scheme = base::lowered(text.substr(0, scheme_end));
  if (scheme_end == std::string_view::npos || (url.scheme != "http" && url.scheme != "https")) {
    return refuse("it must start with https:// or http://");
  }
  std::string_view rest = text.substr(scheme_end + 3);
  if (rest.find('#') != std::string_view::npos) {
    return refuse("it has a fragment (#)");
  }
  const auto authority_end = std::min(rest.find_first_of("/?"), rest.size());
  JPROF_TRY(parse_authority(rest.substr(0, authority_end), url));
  rest.remove_prefix(authority_end);
  const auto query = rest.find('?');
  if (query != std::string_view::npos) {
    url.query = rest.substr(query + 1);
    rest = rest.substr(0, query);
  }
  if (!rest.empty()) {
    url.path = rest;
  }
  return url;
}

} // namespace jprof::http
