// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/store_factory.h"

#include "lib/store/credentials.h"
#include "lib/store/file_store.h"
#include "lib/store/s3_store.h"

namespace jprof::store {
namespace {

std::string first_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (auto value = environment(name); value && !value->empty()) {
      return *value;
    }
  }
  return {};
}

// What the URL leaves open, as the AWS tools would find it: variables first, then the profile.
Status fill_from_surroundings(StoreUrl& url, const Environment& environment) {
  JPROF_TRY_ASSIGN(const AwsProfile profile, load_aws_profile(environment));
  std::string region = first_of(environment, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  std::string endpoint = first_of(environment, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  if (region.empty()) {
    region = profile_text(profile, "region");
  }
  if (endpoint.empty()) {
    endpoint = profile_text(profile, "endpoint_url");
  }
  // Through the parser, so that what comes from outside is held to the same rules.
  std::string text = url.to_string() + "?";
  if (url.region.empty() && !region.empty()) {
    JPROF_TRY_ASSIGN(const StoreUrl checked, parse_store_url(text + "region=" + region));
    url.region = checked.region;
  }
  if (!url.endpoint && !endpoint.empty()) {
    if (endpoint.ends_with('/')) {
      endpoint.pop_back();
    }
    JPROF_TRY_ASSIGN(const StoreUrl checked, parse_store_url(text + "endpoint=" + endpoint));
    url.endpoint = checked.endpoint;
  }
  return {};
}

} // namespace

Result<std::unique_ptr<ObjectStore>> make_object_store(const StoreUrl& url, StoreOptions options) {
  if (url.kind == StoreUrl::Kind::kFile) {
    return make_file_store(url.directory);
  }
  StoreUrl full = url;
  S3ExchangeOptions exchange;
  if (options.credentials_path.empty()) {
    const Environment environment = process_environment();
    JPROF_TRY(fill_from_surroundings(full, environment));
    exchange.credentials = ambient_credentials(environment);
  } else {
    exchange.credentials = mounted_credentials(options.credentials_path);
  }
  // Asked once now, so that a capture is not made first and the lack of keys told after.
  JPROF_TRY(exchange.credentials->keys());
  JPROF_TRY_ASSIGN(exchange.location, make_s3_location(full));
  http::ClientOptions client;
  client.tls = std::move(options.tls);
  client.proxy = std::move(options.proxy);
  client.plain_http =
      exchange.location.endpoint.is_tls() ? http::PlainHttp::kRefuse : http::PlainHttp::kAllow;
  JPROF_TRY_ASSIGN(exchange.client, http::make_curl_http_client(std::move(client)));
  exchange.retry = std::move(options.retry);
  exchange.patience = options.patience;
  exchange.stop = std::move(options.stop);
  return make_s3_store(std::move(exchange));
}

} // namespace jprof::store
