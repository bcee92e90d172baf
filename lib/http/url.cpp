// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/url.h"

#include "lib/base/text.h"
#include "lib/base/unique_resource.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>

namespace jprof::http {
namespace {

constexpr std::size_t kMaxUrlLength = 16 * 1024;

struct ParsedTraits {
  using Handle = CURLU*;
  static Handle invalid() { return nullptr; }
  static void close(Handle handle) { curl_url_cleanup(handle); }
};
using Parsed = base::UniqueResource<ParsedTraits>;

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

// Stricter than libcurl, which takes whatever a resolver might.
bool is_host_name(std::string_view host) {
  return !host.empty() && host.size() <= 253 && host.front() != '-' &&
         std::all_of(host.begin(), host.end(), is_host_character);
}

tl::unexpected<base::Error> refuse(std::string_view why) {
  // The text itself is not repeated: it may hold a password or a signature.
  return base::make_failure(base::ErrorCode::kUsage, "not a usable URL: " + std::string(why));
}

// A part as libcurl reads it; empty if the URL does not have it.
std::string part_of(const Parsed& parsed, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(parsed.get(), which, &text, 0) != CURLUE_OK) {
    return {};
  }
  std::string part = text;
  curl_free(text);
  return part;
}

std::string_view reason(CURLUcode code) {
  switch (code) {
  case CURLUE_USER_NOT_ALLOWED:
    return "a user name or password does not belong in it";
  case CURLUE_BAD_PORT_NUMBER:
    return "the port is not a number from 1 to 65535";
  case CURLUE_BAD_IPV6:
    return "the IPv6 address is malformed";
  default:
    return "the host name is malformed";
  }
}

// Scheme, host and port, by the parser of the library that sends the request: what is checked here
// is where it goes.
Status read_authority(std::string_view text, Url& url) {
  const Parsed parsed(curl_url());
  if (!parsed) {
    throw std::bad_alloc();
  }
  const CURLUcode code =
      curl_url_set(parsed.get(), CURLUPART_URL, std::string(text).c_str(), CURLU_DISALLOW_USER);
  if (code != CURLUE_OK) {
    return refuse(reason(code));
  }
  url.host = base::lowered(part_of(parsed, CURLUPART_HOST));
  if (url.host.starts_with('[')) {
    if (!part_of(parsed, CURLUPART_ZONEID).empty()) {
      return refuse("an IPv6 address cannot have a zone");
    }
    url.host = url.host.substr(1, url.host.size() - 2);
  } else if (!is_host_name(url.host)) {
    return refuse(reason(CURLUE_BAD_HOSTNAME));
  }
  // libcurl takes a colon without a port, and port 0.
  const std::string port = part_of(parsed, CURLUPART_PORT);
  std::from_chars(port.data(), port.data() + port.size(), url.port);
  if (text.ends_with(':') || (!port.empty() && url.port == 0)) {
    return refuse(reason(CURLUE_BAD_PORT_NUMBER));
  }
  return {};
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
  if (authority_end == 0) { // libcurl looks for a host behind a third slash
    return refuse(reason(CURLUE_NO_HOST));
  }
  JPROF_TRY(read_authority(text.substr(0, scheme_end + 3 + authority_end), url));
  // The library would write these in its own way.
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
