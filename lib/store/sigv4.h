// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/secret.h"
#include "lib/http/http_client.h"
#include "lib/http/url.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

// AWS Signature Version 4 as S3 wants it (no normalising of the path, which is signed as it is
// sent): docs.aws.amazon.com, "Authenticating Requests (AWS Signature Version 4)", S3 API
// reference. Pure functions: the time is a parameter.
namespace jprof::store {

using base::Result;
using base::Status;

struct AwsKeys {
  std::string access_key_id;
  base::Secret secret_access_key;
  base::Secret session_token; // empty for long-lived keys
};

struct SigV4Scope {
  std::string region;
  std::string service = "s3";
};

// The SHA-256 of a body in hex, or this where the body is not signed (presigned requests).
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

struct SignableRequest {
  std::string method;
  http::Url url;                     // path and query percent-encoded, as they will be sent
  std::vector<http::Header> headers; // all of them are signed, with Host, which is not among them
  std::string payload_sha256;
};

using SystemSeconds = std::chrono::sys_seconds;

// The headers to send besides request.headers: x-amz-date, x-amz-content-sha256, Authorization and
// with a session token x-amz-security-token.
std::vector<http::Header> sign_sigv4(const SignableRequest& request, const AwsKeys& keys,
                                     const SigV4Scope& scope, SystemSeconds now);

// The URL that lets its holder make this one request until `now` + `valid_for` (at most 7 days).
// The holder must send request.headers as well. The query is a secret from here on.
http::Url presign_sigv4(const SignableRequest& request, const AwsKeys& keys,
                        const SigV4Scope& scope, SystemSeconds now, std::chrono::seconds valid_for);

// Pairs of a query as text: each percent-encoded and joined, in the given order.
std::string encode_query(const std::vector<std::pair<std::string, std::string>>& parameters);

} // namespace jprof::store
