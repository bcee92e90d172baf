// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/http/http_client.h"
#include "lib/store/credentials.h"
#include "lib/store/retry.h"
#include "lib/store/s3_error.h"
#include "lib/store/s3_location.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace jprof::store {

// One request to S3, before it is signed.
struct S3Request {
  std::string what;   // for messages: "put s3://bucket/key"
  std::string method; // "PUT"
  // The object below the store's prefix; empty: the bucket.
  std::string key;
  std::vector<std::pair<std::string, std::string>> query; // not encoded
  std::vector<http::Header> headers;
  const http::BodySource* body = nullptr;
  std::string body_sha256;        // hex; empty without a body
  std::function<void()> on_start; // before each attempt
  std::function<Status(std::string_view)> on_body;
  // Says of a 2xx answer whether it is one: CompleteMultipartUpload can fail with status 200.
  std::function<bool(const http::HttpResponse&)> is_success;
  // Says of any answer whether it is one that the caller knows what to do with.
  std::function<bool(const http::HttpResponse&)> is_expected;
};

struct S3ExchangeOptions {
  S3Location location;
  std::unique_ptr<http::HttpClient> client;
  std::unique_ptr<CredentialsSource> credentials;
  RetryPolicy retry;
  // A request that has not succeeded after this is not repeated, and a server that is silent for so
  // long is given up. 0: as the policy and HttpRequest have it.
  std::chrono::milliseconds patience{0};
  std::stop_token stop;
  std::function<SystemSeconds()> now; // empty: the system's clock
};

// Signs, sends, repeats and repairs. Each attempt is signed anew. What is transient is repeated as
// the policy says; once each, besides: with the clock offset the server told
// (RequestTimeTooSkewed), in the region it told, with keys read anew (ExpiredToken). One thread at
// a time.
class S3Exchange {
 public:
  explicit S3Exchange(S3ExchangeOptions options);

  // A success, or an answer whose status is in `expected` (say 404, 412); all else is an Error.
  Result<http::HttpResponse> send(const S3Request& request, const std::vector<int>& expected = {});
  // send() without repetition and within ten seconds, even when a stop was requested: for
  // tidying up.
  Result<http::HttpResponse> send_once(const S3Request& request);

  const S3Location& location() const { return options_.location; }

 private:
  Result<http::HttpRequest> sign(const S3Request& request);
  bool repair(const S3Error& error, const http::HttpResponse& response);
  SystemSeconds now() const;

  S3ExchangeOptions options_;
  std::chrono::seconds clock_offset_{0};
  bool skew_repaired_ = false;
  bool region_repaired_ = false;
  bool keys_repaired_ = false; // for the request at hand
};

} // namespace jprof::store
