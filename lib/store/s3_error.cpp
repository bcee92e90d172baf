// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/s3_error.h"

#include "lib/base/encoding.h"
#include "lib/http/http_date.h"
#include "lib/store/xml.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace jprof::store {

using base::ErrorCode;

namespace {

struct CodeRow {
  const char* code; // of the answer's XML
  int status;       // for answers without one; 0: the code is needed
  ErrorCode error;
  const char* cure;
};

constexpr const char* kCheckKeys = "check the access key, the secret key and the session token";

// The first row that fits counts, codes before statuses.
constexpr CodeRow kRows[] = {
    {"AccessDenied", 0, ErrorCode::kForbidden,
     "allow s3:PutObject on the bucket's prefix (and s3:PutObjectTagging)"},
    {"AllAccessDisabled", 0, ErrorCode::kForbidden, "the bucket's owner must enable it"},
    {"AccountProblem", 0, ErrorCode::kForbidden, "ask the bucket's owner"},
    {"InvalidAccessKeyId", 0, ErrorCode::kUnauthenticated, kCheckKeys},
    {"SignatureDoesNotMatch", 0, ErrorCode::kUnauthenticated, kCheckKeys},
    {"InvalidToken", 0, ErrorCode::kUnauthenticated, kCheckKeys},
    {"ExpiredToken", 0, ErrorCode::kUnauthenticated, "get new temporary credentials"},
    {"RequestTimeTooSkewed", 0, ErrorCode::kUnauthenticated, "set this machine's clock"},
    {"AuthorizationHeaderMalformed", 0, ErrorCode::kUnauthenticated,
     "check the region of the store URL"},
    {"NoSuchBucket", 0, ErrorCode::kNotFound, "create the bucket, or correct its name"},
    {"NoSuchKey", 0, ErrorCode::kNotFound, ""},
    {"NoSuchUpload", 0, ErrorCode::kNotFound, ""},
    {"PermanentRedirect", 0, ErrorCode::kProtocol, "name the bucket's region in the store URL"},
    {"PreconditionFailed", 0, ErrorCode::kAlreadyExists, ""},
    {"BadDigest", 0, ErrorCode::kInvalidData, ""},
    {"XAmzContentSHA256Mismatch", 0, ErrorCode::kInvalidData, ""},
    {"QuotaExceeded", 0, ErrorCode::kLimit, "make room in the bucket"},
    {"EntityTooLarge", 0, ErrorCode::kLimit, ""},
    {"", 401, ErrorCode::kUnauthenticated, kCheckKeys},
    {"", 403, ErrorCode::kForbidden, "check the credentials and what they may do"},
    {"", 404, ErrorCode::kNotFound, ""},
    {"", 409, ErrorCode::kUnavailable, ""},
    {"", 412, ErrorCode::kAlreadyExists, ""},
    {"", 507, ErrorCode::kLimit, "make room in the bucket"},
};

constexpr std::array kTransientCodes{"InternalError",      "SlowDown",
                                     "ServiceUnavailable", "RequestTimeout",
                                     "OperationAborted",   "ConditionalRequestConflict",
                                     "Throttling",         "RequestLimitExceeded",
                                     "BadGateway"};
constexpr std::array kTransientStatuses{408, 425, 429, 500, 502, 503, 504};

bool is_region(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

} // namespace

bool S3Error::transient() const {
  return std::find(kTransientCodes.begin(), kTransientCodes.end(), code) != kTransientCodes.end() ||
         std::find(kTransientStatuses.begin(), kTransientStatuses.end(), status) !=
             kTransientStatuses.end();
}

S3Error read_s3_error(const http::HttpResponse& response) {
  S3Error out;
  out.status = response.status;
  std::string_view region = response.header("x-amz-bucket-region");
  const auto parsed = parse_xml(response.body);
  if (parsed && parsed->name == "Error") {
    out.code = base::printable(parsed->child_text("Code"), 64);
    out.message = base::printable(parsed->child_text("Message"));
    if (region.empty()) {
      region = parsed->child_text("Region");
    }
  }
  if (is_region(region)) {
    out.region = region;
  }
  return out;
}

base::Error to_error(const S3Error& error, const std::string& what) {
  std::string message = "cannot " + what + ": the store answered " + std::to_string(error.status);
  if (!error.code.empty()) {
    message += " " + error.code;
  }
  if (!error.message.empty()) {
    message += " (" + error.message + ")";
  }
  if (error.transient()) {
    return base::make_error(ErrorCode::kUnavailable, std::move(message));
  }
  for (const CodeRow& row : kRows) {
    if ((row.status != 0 && row.status == error.status) ||
        (row.status == 0 && row.code == error.code)) {
      return base::make_error(row.error, std::move(message), row.cure);
    }
  }
  return base::make_error(ErrorCode::kProtocol, std::move(message),
                          "check that the endpoint is an S3 service");
}

std::optional<std::chrono::seconds> retry_after(const http::HttpResponse& response,
                                                std::chrono::sys_seconds now) {
  constexpr std::chrono::seconds kMaxWait = std::chrono::days(1);
  const std::string_view text = response.header("retry-after");
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size() && seconds >= 0) {
    return std::min(std::chrono::seconds(seconds), kMaxWait);
  }
  if (const auto date = http::parse_http_date(text)) {
    return std::clamp(*date - now, std::chrono::seconds(0), kMaxWait);
  }
  return std::nullopt;
}

} // namespace jprof::store
