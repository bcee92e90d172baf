// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/http_date.h"

#include <curl/curl.h>

#include <string>

namespace jprof::http {

std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text) {
  // libcurl reads many other forms, such as a bare "10", as times.
  constexpr std::size_t kLength = 29;
  if (text.size() != kLength || !text.ends_with(" GMT")) {
    return std::nullopt;
  }
  const time_t seconds = curl_getdate(std::string(text).c_str(), nullptr);
  if (seconds < 0) {
    return std::nullopt;
  }
  return std::chrono::sys_seconds(std::chrono::seconds(seconds));
}

} // namespace jprof::http
