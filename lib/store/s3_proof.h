// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/digest.h"
#include "lib/base/md5.h"
#include "lib/http/http_client.h"
#include "lib/store/object_store.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::store {

// A status of 200 proves nothing: a captive portal gives one to every request, and a proxy may have
// cut off the body. An object is stored if the service names what it has: by its ETag, which is the
// MD5 of the bytes (of the MD5s of its parts) unless it was encrypted with KMS keys, or by its
// SHA-256, which AWS returns if it was sent. If neither is there, only reading the object shows it.

// The digests that one body has.
struct BodyDigests {
  base::Sha256 sha256{};
  std::optional<base::Md5> md5; // none where OpenSSL has none
};
Result<BodyDigests> digests_of(const http::BodySource& body);

inline constexpr const char* kChecksumHeader = "x-amz-checksum-sha256";
// Its value for these bytes.
std::string checksum_of(const base::Sha256& sha256);

// The answer to a PUT of a body says that the service has just these bytes.
bool proves_body(const http::HttpResponse& answer, const BodyDigests& digests);
// An ETag is that of an object put together of these parts.
bool proves_parts(std::string_view etag, const std::vector<std::optional<base::Md5>>& parts);

} // namespace jprof::store
