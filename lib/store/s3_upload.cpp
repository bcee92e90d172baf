// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/s3_upload.h"

#include "lib/base/encoding.h"
#include "lib/base/markup.h"
#include "lib/store/s3_proof.h"
#include "lib/store/xml.h"

#include <algorithm>

namespace jprof::store {

using base::ErrorCode;

namespace {

// A piece of another body.
class PartBody final : public http::BodySource {
 public:
  PartBody(const http::BodySource& whole, std::uint64_t offset, std::uint64_t size_bytes)
      : whole_(whole), offset_(offset), size_bytes_(size_bytes) {}

  std::uint64_t size_bytes() const override { return size_bytes_; }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset >= size_bytes_) {
      return std::size_t{0};
    }
    const auto most =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_bytes_ - offset));
    return whole_.read(offset_ + offset, out.first(most));
  }

 private:
  const http::BodySource& whole_;
  std::uint64_t offset_;
  std::uint64_t size_bytes_;
};

Result<std::string> create_upload(S3Exchange& exchange, const S3Upload& upload) {
  S3Request request;
  request.what = upload.what;
  request.method = "POST";
  request.key = upload.key.text();
  request.query = {{"uploads", ""}};
  request.headers = upload.headers;
  JPROF_TRY_ASSIGN(const http::HttpResponse response, exchange.send(request));
  const auto answer = parse_xml(response.body);
  const std::string id(answer ? answer->child_text("UploadId") : std::string_view());
  if (id.empty() || id.size() > 2048) {
    return base::make_failure(ErrorCode::kProtocol,
                              "cannot " + upload.what + ": the store gave no upload id",
                              "check that the endpoint is an S3 service");
  }
  return id;
}

struct SentPart {
  std::string tag;
  std::optional<base::Md5> md5;
};

Result<SentPart> send_part(S3Exchange& exchange, const S3Upload& upload, const std::string& id,
                           const PartBody& part, std::uint64_t number) {
  JPROF_TRY_ASSIGN(const BodyDigests digests, digests_of(part));
  S3Request request;
  request.what = upload.what;
  request.method = "PUT";
  request.key = upload.key.text();
  request.query = {{"partNumber", std::to_string(number)}, {"uploadId", id}};
  request.body = &part;
  request.body_sha256 = base::hex(base::as_text(digests.sha256));
  JPROF_TRY_ASSIGN(const http::HttpResponse response, exchange.send(request));
  const std::string tag(response.header("etag"));
  if (tag.empty()) {
    return base::make_failure(ErrorCode::kProtocol,
                              "cannot " + upload.what + ": the store gave no tag for a part");
  }
  return SentPart{tag, digests.md5};
}

Result<S3UploadEnd> complete_upload(S3Exchange& exchange, const S3Upload& upload,
                                    const std::string& id, const std::vector<SentPart>& parts) {
  std::string text = "<CompleteMultipartUpload>";
  std::vector<std::optional<base::Md5>> digests;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    digests.push_back(parts[i].md5);
    text += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" +
            base::escape_markup(parts[i].tag) + "</ETag></Part>";
  }
  text += "</CompleteMultipartUpload>";
  const http::MemoryBody body(text);
  S3Request request;
  request.what = upload.what;
  request.method = "POST";
  request.key = upload.key.text();
  request.query = {{"uploadId", id}};
  request.headers = {{"Content-Type", "application/xml"}};
  if (upload.conditional) {
    request.headers.push_back({"If-None-Match", "*"});
  }
  request.body = &body;
  request.body_sha256 = base::sha256_hex(text);
  // The status is sent before the parts are put together, so a failure comes as the body of a 200.
  request.is_success = [](const http::HttpResponse& response) {
    const auto answer = parse_xml(response.body);
    return answer && answer->name == "CompleteMultipartUploadResult";
  };
  JPROF_TRY_ASSIGN(const http::HttpResponse response, exchange.send(request, {404, 409, 412}));
  switch (response.status) {
  case 404:
    return S3UploadEnd::kVanished;
  case 409:
    return S3UploadEnd::kConflict;
  case 412:
    return S3UploadEnd::kExists;
  default:
    break;
  }
  const auto answer = parse_xml(response.body);
  return answer && proves_parts(answer->child_text("ETag"), digests) ? S3UploadEnd::kCreated
                                                                     : S3UploadEnd::kUnproven;
}

// Best effort: what stays behind costs storage until the bucket's lifecycle rule removes it.
void abort_upload(S3Exchange& exchange, const S3Upload& upload, const std::string& id) {
  S3Request request;
  request.what = "abort to " + upload.what;
  request.method = "DELETE";
  request.key = upload.key.text();
  request.query = {{"uploadId", id}};
  (void)exchange.send_once(request);
}

Result<S3UploadEnd> send_all(S3Exchange& exchange, const S3Upload& upload, const std::string& id,
                             const S3Sizes& sizes) {
  const std::uint64_t size = upload.content.body.size_bytes();
  const std::uint64_t part_bytes =
      std::max(sizes.part_bytes, (size + sizes.max_parts - 1) / sizes.max_parts);
  std::vector<SentPart> parts;
  for (std::uint64_t offset = 0; offset < size; offset += part_bytes) {
    const PartBody part(upload.content.body, offset, std::min(part_bytes, size - offset));
    JPROF_TRY_ASSIGN(SentPart sent, send_part(exchange, upload, id, part, parts.size() + 1));
    parts.push_back(std::move(sent));
  }
  return complete_upload(exchange, upload, id, parts);
}

} // namespace

Result<S3UploadEnd> upload_in_parts(S3Exchange& exchange, const S3Upload& upload,
                                    const S3Sizes& sizes) {
  JPROF_TRY_ASSIGN(const std::string id, create_upload(exchange, upload));
  auto end = send_all(exchange, upload, id, sizes);
  if (!end || *end == S3UploadEnd::kExists || *end == S3UploadEnd::kConflict) {
    abort_upload(exchange, upload, id);
  }
  return end;
}

} // namespace jprof::store
