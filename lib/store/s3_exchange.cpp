// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/s3_exchange.h"

#include "lib/base/deadline.h"
#include "lib/base/digest.h"
#include "lib/http/http_date.h"

#include <algorithm>

namespace jprof::store {

using base::ErrorCode;

namespace {

bool is_transient(const base::Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout;
}

} // namespace

S3Exchange::S3Exchange(S3ExchangeOptions options) : options_(std::move(options)) {}

SystemSeconds S3Exchange::now() const {
  const SystemSeconds clock =
      options_.now ? options_.now()
                   : std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return clock + clock_offset_;
}

Result<http::HttpRequest> S3Exchange::sign(const S3Request& request) {
  JPROF_TRY_ASSIGN(const AwsKeys keys, options_.credentials->keys());
  SignableRequest signable{request.method,
                           request.key.empty() ? options_.location.bucket_url()
                                               : options_.location.object_url(request.key),
                           request.headers,
                           request.body == nullptr ? base::sha256_hex("") : request.body_sha256};
  signable.url.query = encode_query(request.query);
  http::HttpRequest out;
  out.method = request.method;
  out.url = signable.url;
  out.headers = request.headers;
  for (http::Header& header : sign_sigv4(signable, keys, {options_.location.region, "s3"}, now())) {
    out.headers.push_back(std::move(header));
  }
  out.body = request.body;
  out.on_body = request.on_body;
  out.response_limit_bytes = std::size_t{4} * 1024 * 1024; // a page of 1000 long keys fits
  out.stop = options_.stop;
  return out;
}

// Whether something was changed that makes an immediate repetition worthwhile.
bool S3Exchange::repair(const S3Error& error, const http::HttpResponse& response) {
  if (error.code == "RequestTimeTooSkewed" && !skew_repaired_) {
    const auto server_time = http::parse_http_date(response.header("date"));
    skew_repaired_ = true;
    if (server_time) {
      clock_offset_ += *server_time - now();
    }
    return server_time.has_value();
  }
  const bool elsewhere = error.status == 301 || error.status == 307 || error.status == 400;
  if (elsewhere && !error.region.empty() && error.region != options_.location.region &&
      !region_repaired_) {
    region_repaired_ = true;
    options_.location.move_to_region(error.region);
    return true;
  }
  if ((error.code == "ExpiredToken" || error.code == "InvalidToken") && !keys_repaired_) {
    keys_repaired_ = true; // sign() asks the source anew; a rotated file counts
    return true;
  }
  return false;
}

Result<http::HttpResponse> S3Exchange::send(const S3Request& request,
                                            const std::vector<int>& expected) {
  Retrier retrier(options_.retry, options_.stop);
  keys_repaired_ = false;
  const bool bounded = options_.patience.count() > 0;
  const auto patience = base::Deadline::after(options_.patience);
  const auto again = [&](std::optional<std::chrono::seconds> wish) {
    return !(bounded && patience.expired()) && retrier.wait_for_next(wish) &&
           !(bounded && patience.expired());
  };
  for (;;) {
    JPROF_TRY_ASSIGN(http::HttpRequest signed_request, sign(request));
    if (bounded) {
      // At least a second, in which an answer that is on its way arrives.
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(patience.remaining());
      signed_request.stall_timeout =
          std::min(signed_request.stall_timeout,
                   std::max(left, std::chrono::milliseconds(std::chrono::seconds(1))));
    }
    if (request.on_start) {
      request.on_start();
    }
    auto response = options_.client->send(signed_request);
    if (!response) {
      if (is_transient(response.error()) && again(std::nullopt)) {
        continue;
      }
      return base::fail(std::move(response).error().with_context("cannot " + request.what));
    }
    const bool success = response->ok() && (!request.is_success || request.is_success(*response));
    const bool expected_by_text = request.is_expected && request.is_expected(*response);
    if (success || expected_by_text ||
        std::find(expected.begin(), expected.end(), response->status) != expected.end()) {
      retrier.succeeded();
      return response;
    }
    const S3Error error = read_s3_error(*response);
    if (repair(error, *response)) {
      continue;
    }
    const bool passes = error.transient() || (request.is_early && request.is_early(*response));
    if (passes && again(retry_after(*response, now()))) {
      continue;
    }
    if (options_.stop.stop_requested()) {
      return base::make_failure(ErrorCode::kInterrupted, "stopped while trying to " + request.what);
    }
    return base::fail(to_error(error, request.what));
  }
}

Result<http::HttpResponse> S3Exchange::send_once(const S3Request& request) {
  JPROF_TRY_ASSIGN(http::HttpRequest signed_request, sign(request));
  signed_request.stop = {};
  signed_request.total_timeout = std::chrono::seconds(10);
  JPROF_TRY_ASSIGN(http::HttpResponse response, options_.client->send(signed_request));
  if (!response.ok()) {
    return base::fail(to_error(read_s3_error(response), request.what));
  }
  return response;
}

} // namespace jprof::store
