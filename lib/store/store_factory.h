// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/http/http_client.h"
#include "lib/store/object_store.h"
#include "lib/store/retry.h"
#include "lib/store/store_url.h"

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

namespace jprof::store {

struct StoreOptions {
  // A mounted file or directory with the keys (credentials.h), read anew for each request so that a
  // rotated one counts. Then neither environment nor home directory is looked at: what a sidecar
  // uses. Empty: AWS_* variables, then the AWS shared files: what a person or a CronJob uses.
  std::string credentials_path;
  http::TlsOptions tls;
  http::ProxyOptions proxy;
  RetryPolicy retry;
  std::chrono::milliseconds patience{0}; // S3ExchangeOptions::patience
  std::stop_token stop;                  // ends whatever the store is doing, with kInterrupted
};

// Opens nothing yet but reads what configures it: kUsage, kConfigInvalid, or kUnauthenticated where
// no credentials are to be found. https only, except for an endpoint that says http:// itself.
Result<std::unique_ptr<ObjectStore>> make_object_store(const StoreUrl& url, StoreOptions options);

} // namespace jprof::store
