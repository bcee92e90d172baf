// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/store_url.h"

#include "lib/base/encoding.h"

#include <algorithm>

namespace jprof::store {

using base::ErrorCode;

namespace {

constexpr const char* kForms =
    "use file:///directory or s3://bucket/prefix?region=R&endpoint=https://host";
constexpr std::size_t kMaxPrefixLength = 100; // with the longest key still within S3's 1024 bytes

tl::unexpected<base::Error> refuse(std::string_view text, std::string_view why) {
  return base::make_failure(ErrorCode::kUsage,
                            "not a store URL: " + base::printable(text) + ": " + std::string(why),
                            kForms);
}

// The rules of general purpose buckets, somewhat wider (S3-compatible servers allow '_' and upper
// case): whatever passes is safe in a path and in a host name.
bool is_bucket(std::string_view text) {
  return text.size() >= 3 && text.size() <= 63 && text.front() != '.' && text.front() != '-' &&
         text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '-' || c == '_';
         });
}

// Parts joined by '/', none of them empty, "." or "..".
bool is_path(std::string_view text) {
  while (true) {
    const auto slash = text.find('/');
    const std::string_view part = text.substr(0, slash);
    if (part.empty() || part == "." || part == "..") {
      return false;
    }
    if (slash == std::string_view::npos) {
      return true;
    }
    text.remove_prefix(slash + 1);
  }
}

bool is_prefix(std::string_view text) {
  return text.empty() ||
         (text.size() <= kMaxPrefixLength && is_path(text) &&
          std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; }));
}

bool is_region(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

Status set_parameter(StoreUrl& url, std::string_view name, std::string_view value) {
  if (name == "region" && is_region(value)) {
    url.region = value;
    return {};
  }
  if (name == "endpoint") {
    JPROF_TRY_ASSIGN(url.endpoint, http::parse_url(value));
    if (url.endpoint->path != "/" || !url.endpoint->query.empty()) {
      return base::make_failure(ErrorCode::kUsage, "an endpoint is a host, without a path", kForms);
    }
    return {};
  }
  if (name == "addressing" && (value == "path" || value == "virtual")) {
    url.addressing = value == "path" ? Addressing::kPath : Addressing::kVirtualHost;
    return {};
  }
  return base::make_failure(ErrorCode::kUsage,
                            "a store URL does not have " + base::printable(name) + "=" +
                                base::printable(value),
                            "it can have region, endpoint and addressing=path|virtual");
}

Result<StoreUrl> parse_file(std::string_view text, std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  if (!path.starts_with('/')) {
    return refuse(text, "file:// needs three slashes and an absolute directory");
  }
  if (path.find('\0') != std::string_view::npos || (path != "/" && !is_path(path.substr(1)))) {
    return refuse(text, "the directory holds an empty part, '.' or '..'");
  }
  StoreUrl url;
  url.directory = path;
  return url;
}

Result<StoreUrl> parse_s3(std::string_view text, std::string_view rest) {
  StoreUrl url;
  url.kind = StoreUrl::Kind::kS3;
  const auto question = rest.find('?');
  std::string_view query = question == std::string_view::npos ? "" : rest.substr(question + 1);
  rest = rest.substr(0, question);
  const auto slash = rest.find('/');
  url.bucket = rest.substr(0, slash);
  std::string_view prefix = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  if (prefix.ends_with('/')) {
    prefix.remove_suffix(1);
  }
  url.prefix = prefix;
  if (url.bucket.find('@') != std::string::npos) {
    return base::make_failure(ErrorCode::kUsage, "a store URL cannot contain a user or key",
                              "give credentials in AWS_ACCESS_KEY_ID, a profile or a mounted file");
  }
  if (!is_bucket(url.bucket)) {
    return refuse(text, "the bucket's name is malformed");
  }
  if (!is_prefix(url.prefix)) {
    return refuse(text, "the prefix is over 100 bytes, or holds an empty part, '.', '..' or a byte "
                        "outside printable ASCII");
  }
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(parameter.size() + 1, query.size()));
    const auto equals = parameter.find('=');
    JPROF_TRY(set_parameter(url, parameter.substr(0, equals),
                            equals == std::string_view::npos ? "" : parameter.substr(equals + 1)));
  }
  return url;
}

} // namespace

std::string StoreUrl::to_string() const {
  if (kind == Kind::kFile) {
    return "file://" + directory;
  }
  return "s3://" + bucket + (prefix.empty() ? "" : "/" + prefix);
}

Result<StoreUrl> parse_store_url(std::string_view text) {
  const auto colon = text.find("://");
  if (colon == std::string_view::npos) {
    return refuse(text, "it has no scheme");
  }
  const std::string_view scheme = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 3);
  if (scheme == "file") {
    return parse_file(text, rest);
  }
  if (scheme == "s3") {
    return parse_s3(text, rest);
  }
  if (scheme == "gs" || scheme == "az") {
    return base::make_failure(ErrorCode::kUsage,
                              "this version cannot store to " + std::string(scheme) + "://",
                              "use s3://bucket/prefix or file:///directory");
  }
  return refuse(text, "it knows file:// and s3://");
}

} // namespace jprof::store
