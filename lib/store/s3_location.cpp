// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/s3_location.h"

#include "lib/base/check.h"
#include "lib/base/encoding.h"

#include <algorithm>

namespace jprof::store {
namespace {

// The one partition with another domain that has S3 customers outside of special clouds.
http::Url aws_endpoint(const std::string& region) {
  const bool china = region.starts_with("cn-");
  auto url = http::parse_url("https://s3." + region + ".amazonaws.com" + (china ? ".cn" : ""));
  JPROF_CHECK(url.has_value()); // regions are checked by parse_store_url
  return *url;
}

bool is_dns_label(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

} // namespace

std::string S3Location::full_key(std::string_view key) const {
  return prefix.empty() ? std::string(key) : prefix + "/" + std::string(key);
}

http::Url S3Location::bucket_url() const {
  http::Url url = endpoint;
  if (path_style) {
    url.path = "/" + bucket;
  } else {
    url.host = bucket + "." + endpoint.host;
    url.path = "/";
  }
  return url;
}

http::Url S3Location::object_url(std::string_view key) const {
  http::Url url = bucket_url();
  const std::string encoded = base::percent_encode(full_key(key), base::Slash::kKeep);
  url.path = path_style ? url.path + "/" + encoded : "/" + encoded;
  return url;
}

void S3Location::move_to_region(const std::string& new_region) {
  region = new_region;
  if (!own_endpoint) {
    endpoint = aws_endpoint(new_region);
  }
}

Result<S3Location> make_s3_location(const StoreUrl& url) {
  S3Location out;
  out.bucket = url.bucket;
  out.prefix = url.prefix;
  out.region = url.region.empty() ? "us-east-1" : url.region;
  out.own_endpoint = url.endpoint.has_value();
  out.endpoint = out.own_endpoint ? *url.endpoint : aws_endpoint(out.region);
  const bool plain_label = is_dns_label(url.bucket);
  out.path_style = url.addressing == Addressing::kPath ||
                   (url.addressing == Addressing::kAutomatic && (out.own_endpoint || !plain_label));
  if (!out.path_style && out.endpoint.is_tls() && !plain_label) {
    return base::make_failure(base::ErrorCode::kUsage,
                              "no certificate covers the bucket " + url.bucket +
                                  " as part of a host name",
                              "use addressing=path for it");
  }
  return out;
}

} // namespace jprof::store
