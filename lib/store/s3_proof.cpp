// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/s3_proof.h"

#include "lib/base/encoding.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace jprof::store {
namespace {

// "d41d..." with its quotes, W/ before them where a proxy made it weak.
std::string_view without_quotes(std::string_view etag) {
  if (etag.starts_with("W/")) {
    etag.remove_prefix(2);
  }
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return etag;
}

bool same_hex(std::string_view text, const std::string& lower) {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'F' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

std::string_view bytes_of(const base::Md5& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

} // namespace

Result<BodyDigests> digests_of(const http::BodySource& body) {
  base::Sha256Stream sha256;
  base::Md5Stream md5;
  std::vector<char> buffer(std::size_t{64} * 1024);
  for (std::uint64_t offset = 0; offset < body.size_bytes();) {
    JPROF_TRY_ASSIGN(const std::size_t got,
                     body.read(offset, std::as_writable_bytes(std::span(buffer))));
    if (got == 0) {
      return base::make_failure(base::ErrorCode::kIo, "the bytes to store end too early");
    }
    sha256.update({buffer.data(), got});
    md5.update({buffer.data(), got});
    offset += got;
  }
  return BodyDigests{sha256.finish(), md5.finish()};
}

std::string checksum_of(const base::Sha256& sha256) {
  return base::base64_encode(base::as_text(sha256));
}

bool proves_body(const http::HttpResponse& answer, const BodyDigests& digests) {
  if (answer.header(kChecksumHeader) == checksum_of(digests.sha256)) {
    return true;
  }
  return digests.md5 &&
         same_hex(without_quotes(answer.header("etag")), base::hex(bytes_of(*digests.md5)));
}

bool proves_parts(std::string_view etag, const std::vector<std::optional<base::Md5>>& parts) {
  base::Md5Stream all;
  for (const std::optional<base::Md5>& part : parts) {
    if (!part) {
      return false;
    }
    all.update(bytes_of(*part));
  }
  const auto digest = all.finish();
  return digest && same_hex(without_quotes(etag),
                            base::hex(bytes_of(*digest)) + "-" + std::to_string(parts.size()));
}

} // namespace jprof::store
