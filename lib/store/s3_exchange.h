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
  // Judges whether a 2xx answer is a success: CompleteMultipartUpload can fail with status 200.
  std::function<bool(const http::HttpResponse&)> is_success;
  // Judges whether an answer, whatever its status, is one that the caller can handle.
  std::function<bool(const http::HttpResponse&)> is_expected;
  // Judges whether an answer is only too early: it is then repeated like a transient failure.
  std::function<bool(const http::HttpResponse&)> is_early;
};

struct S3ExchangeOptions {
  S3Location location;
  std::unique_ptr<http::HttpClient> client;
  std::unique_ptr<CredentialsSource> credentials;
  RetryPolicy retry;
  // A request that has not succeeded after this is not retried, and a server that is silent for
  // this long is given up. 0: as in the policy and HttpRequest.
  std::chrono::milliseconds patience{0};
  std::stop_token stop;
  std::function<SystemSeconds()> now; // empty: the system's clock
};

// Signs, sends, retries and repairs. Each attempt is signed anew. Transient failures are retried as
// the policy says; in addition, once each: with the clock offset that the server reported
// (RequestTimeTooSkewed), in the region that it reported, with keys read anew (ExpiredToken). One
// thread at a time.
class S3Exchange {
 public:
  explicit S3Exchange(S3ExchangeOptions options);

  // A success, or an answer whose status is in `expected` (such as 404, 412); anything else is an
  // Error.
  Result<http::HttpResponse> send(const S3Request& request, const std::vector<int>& expected = {});
  // send() without retries and within ten seconds, even when a stop was requested: for cleaning up.
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
