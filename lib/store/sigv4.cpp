// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/sigv4.h"

#include "lib/base/digest.h"
#include "lib/base/encoding.h"
#include "lib/base/text.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace jprof::store {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

struct Timestamp {
  std::string date; // 20130524
  std::string time; // 20130524T000000Z
};

Timestamp timestamp_of(SystemSeconds now) {
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(now - day);
  char text[40];
  std::snprintf(text, sizeof text, "%04d%02u%02uT%02d%02d%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  const std::string full(text);
  return {full.substr(0, 8), full};
}

// Without blanks at the ends, and each run of blanks inside as one.
std::string squeezed(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.ends_with(' ')) {
    out.pop_back();
  }
  return out;
}

// Name to value, sorted by name as signing wants it; several of one name are joined by commas.
std::map<std::string, std::string> canonical_headers(const http::Url& url,
                                                     const std::vector<http::Header>& headers) {
  std::map<std::string, std::string> out{{"host", url.authority()}};
  for (const http::Header& header : headers) {
    const auto [at, is_new] = out.try_emplace(base::lowered(header.name), squeezed(header.value));
    if (!is_new) {
      at->second += "," + squeezed(header.value);
    }
  }
  return out;
}

std::string names_of(const std::map<std::string, std::string>& headers) {
  std::string out;
  for (const auto& [name, value] : headers) {
    out += (out.empty() ? "" : ";") + name;
  }
  return out;
}

// The pairs sorted by name, then by value; a name alone gets its '='.
std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const auto equals = pair.find('=');
    if (!pair.empty()) {
      pairs.emplace_back(pair.substr(0, equals),
                         equals == std::string_view::npos ? "" : pair.substr(equals + 1));
    }
  }
  std::sort(pairs.begin(), pairs.end());
  std::string out;
  for (const auto& [name, value] : pairs) {
    out += (out.empty() ? "" : "&") + name + "=" + value;
  }
  return out;
}

std::string credential_scope(const Timestamp& time, const SigV4Scope& scope) {
  return time.date + "/" + scope.region + "/" + scope.service + "/aws4_request";
}

std::string signature(const SignableRequest& request,
                      const std::map<std::string, std::string>& headers, const AwsKeys& keys,
                      const SigV4Scope& scope, const Timestamp& time) {
  std::string canonical =
      request.method + "\n" + request.url.path + "\n" + canonical_query(request.url.query) + "\n";
  for (const auto& [name, value] : headers) {
    canonical += name + ":" + value + "\n";
  }
  canonical += "\n" + names_of(headers) + "\n" + request.payload_sha256;
  const std::string to_sign = std::string(kAlgorithm) + "\n" + time.time + "\n" +
                              credential_scope(time, scope) + "\n" + base::sha256_hex(canonical);
  const base::Secret start("AWS4" + std::string(keys.secret_access_key.reveal()));
  base::Sha256 key = base::hmac_sha256(start.reveal(), time.date);
  for (const std::string_view part :
       {std::string_view(scope.region), std::string_view(scope.service),
        std::string_view("aws4_request")}) {
    key = base::hmac_sha256(base::as_text(key), part);
  }
  return base::hex(base::hmac_sha256(base::as_text(key), to_sign));
}

} // namespace

std::vector<http::Header> sign_sigv4(const SignableRequest& request, const AwsKeys& keys,
                                     const SigV4Scope& scope, SystemSeconds now) {
  const Timestamp time = timestamp_of(now);
  std::vector<http::Header> added{{"x-amz-content-sha256", request.payload_sha256},
                                  {"x-amz-date", time.time}};
  if (!keys.session_token.empty()) {
    added.push_back({"x-amz-security-token", std::string(keys.session_token.reveal())});
  }
  std::vector<http::Header> all = request.headers;
  all.insert(all.end(), added.begin(), added.end());
  const auto headers = canonical_headers(request.url, all);
  added.push_back(
      {"Authorization", std::string(kAlgorithm) + " Credential=" + keys.access_key_id + "/" +
                            credential_scope(time, scope) + ", SignedHeaders=" + names_of(headers) +
                            ", Signature=" + signature(request, headers, keys, scope, time)});
  return added;
}

http::Url presign_sigv4(const SignableRequest& request, const AwsKeys& keys,
                        const SigV4Scope& scope, SystemSeconds now,
                        std::chrono::seconds valid_for) {
  const Timestamp time = timestamp_of(now);
  const auto headers = canonical_headers(request.url, request.headers);
  std::vector<std::pair<std::string, std::string>> parameters{
      {"X-Amz-Algorithm", std::string(kAlgorithm)},
      {"X-Amz-Credential", keys.access_key_id + "/" + credential_scope(time, scope)},
      {"X-Amz-Date", time.time},
      {"X-Amz-Expires", std::to_string(valid_for.count())},
      {"X-Amz-SignedHeaders", names_of(headers)}};
  if (!keys.session_token.empty()) {
    parameters.emplace_back("X-Amz-Security-Token", std::string(keys.session_token.reveal()));
  }
  SignableRequest out = request;
  out.url.query += (out.url.query.empty() ? "" : "&") + encode_query(parameters);
  out.payload_sha256 = kUnsignedPayload;
  out.url.query += "&X-Amz-Signature=" + signature(out, headers, keys, scope, time);
  return out.url;
}

std::string encode_query(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string out;
  for (const auto& [name, value] : parameters) {
    out +=
        (out.empty() ? "" : "&") + base::percent_encode(name) + "=" + base::percent_encode(value);
  }
  return out;
}

} // namespace jprof::store
