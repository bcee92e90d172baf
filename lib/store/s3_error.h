// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/http/http_client.h"

#include <chrono>
#include <optional>
#include <string>

namespace jprof::store {

using base::Result;
using base::Status;

// What an unsuccessful S3 answer says.
struct S3Error {
  int status = 0;
  std::string code;    // "NoSuchBucket"; empty where the answer has none (HEAD, proxies)
  std::string message; // printable
  std::string region;  // where the bucket really is, if the answer says so

  bool transient() const; // worth repeating as it is
};

// Reads status, headers and, if there is one, the XML of an answer.
S3Error read_s3_error(const http::HttpResponse& response);

// As an Error with its cure. `what` is lower case: "put s3://bucket/key".
base::Error to_error(const S3Error& error, const std::string& what);

// Retry-After in seconds or as a date (RFC 9110, 10.2.3), at most a day; none if it is absent or
// neither.
std::optional<std::chrono::seconds> retry_after(const http::HttpResponse& response,
                                                std::chrono::sys_seconds now);

} // namespace jprof::store
