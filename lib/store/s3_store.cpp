// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/s3_store.h"

#include "lib/base/encoding.h"
#include "lib/store/s3_proof.h"
#include "lib/store/s3_upload.h"
#include "lib/store/xml.h"

#include <charconv>

namespace jprof::store {

using base::ErrorCode;

namespace {

// No key of a capture begins like it.
constexpr const char* kNoObject = "jprof-no-such-object";
constexpr const char* kDigestHeader = "x-amz-meta-jprof-sha256";

std::uint64_t number_in(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

class S3Store final : public ObjectStore {
 public:
  S3Store(S3ExchangeOptions options, const S3Sizes& sizes)
      : exchange_(std::move(options)), sizes_(sizes) {}

  Status check() override;
  Result<PutReceipt> put(const ObjectKey& key, const Content& content,
                         const PutOptions& options) override;
  Result<ObjectInfo> info(const ObjectKey& key) override;
  Status get(const ObjectKey& key, const std::function<Status(std::string_view)>& sink) override;
  Status list(const std::string& prefix,
              const std::function<Status(const ObjectKey&, std::uint64_t)>& visitor) override;
  std::string describe() const override;

 private:
  enum class Written { kCreated, kUnproven, kTaken, kUnconditionalNeeded };

  std::string shown(const ObjectKey& key) const;
  std::vector<http::Header> object_headers(const Content& content, const PutOptions& options) const;
  Result<Written> write_whole(const ObjectKey& key, const Content& content,
                              const std::vector<http::Header>& headers, const BodyDigests& digests);
  Result<Written> write_parts(const ObjectKey& key, const Content& content,
                              const std::vector<http::Header>& headers);
  Result<Written> write(const ObjectKey& key, const Content& content,
                        const std::vector<http::Header>& headers, const BodyDigests& digests);
  Result<PutReceipt> prove(const ObjectKey& key, const Content& content);
  Result<PutReceipt> compare(const ObjectKey& key, const Content& content);
  S3Request look_at(const ObjectKey& key) const;
  Result<http::HttpResponse> head(const ObjectKey& key, const std::vector<int>& expected);
  Result<std::string>
  list_page(const std::string& prefix, const std::string& token,
            const std::function<Status(const ObjectKey&, std::uint64_t)>& visitor);

  S3Exchange exchange_;
  S3Sizes sizes_;
  bool conditional_ = true;
};

std::string S3Store::shown(const ObjectKey& key) const {
  return "s3://" + exchange_.location().bucket + "/" + exchange_.location().full_key(key.text());
}

std::string S3Store::describe() const {
  const S3Location& at = exchange_.location();
  return "s3://" + at.bucket + (at.prefix.empty() ? "" : "/" + at.prefix) + " at " +
         at.endpoint.scheme + "://" + at.endpoint.authority();
}

// A signed request for an object that does not exist. A service that does not know the keys says
// so; one that does says that there is no such object, or, without the right to list, that we may
// not look: both answers need no right. Anything that answers differently is not an S3 service.
Status S3Store::check() {
  S3Request request;
  request.what = "use " + describe();
  request.method = "GET";
  request.key = kNoObject;
  request.on_body = [](std::string_view) -> Status { return {}; };
  request.is_expected = [](const http::HttpResponse& answer) {
    const std::string code = answer.ok() ? "" : read_s3_error(answer).code;
    return (answer.status == 404 && code == "NoSuchKey") ||
           (answer.status == 403 && code == "AccessDenied");
  };
  JPROF_TRY_ASSIGN(const http::HttpResponse answer, exchange_.send(request));
  if (answer.ok()) {
    return base::make_failure(ErrorCode::kUnavailable,
                              "cannot " + request.what +
                                  ": what answers there has an object that nobody stored",
                              "check what answers at the endpoint: a portal or a proxy on the way "
                              "may say 200 to everything");
  }
  return {};
}

std::vector<http::Header> S3Store::object_headers(const Content& content,
                                                  const PutOptions& options) const {
  std::vector<http::Header> out{{"Content-Type", options.content_type},
                                {kDigestHeader, base::hex(content.sha256)}};
  if (!options.tags.empty()) {
    out.push_back({"x-amz-tagging", encode_query(options.tags)});
  }
  return out;
}

Result<S3Store::Written> S3Store::write_whole(const ObjectKey& key, const Content& content,
                                              const std::vector<http::Header>& headers,
                                              const BodyDigests& digests) {
  S3Request request;
  request.what = "store " + shown(key);
  request.method = "PUT";
  request.key = key.text();
  request.headers = headers;
  if (conditional_) {
    request.headers.push_back({"If-None-Match", "*"});
    request.headers.push_back({kChecksumHeader, checksum_of(digests.sha256)});
  }
  request.body = &content.body;
  request.body_sha256 = base::hex(content.sha256);
  auto response = exchange_.send(request, {412, 501});
  if (!response) {
    return base::fail(std::move(response).error());
  }
  if (response->status == 412) {
    return Written::kTaken;
  }
  if (response->status != 501) {
    return proves_body(*response, digests) ? Written::kCreated : Written::kUnproven;
  }
  if (conditional_) {
    return Written::kUnconditionalNeeded;
  }
  return base::fail(to_error(read_s3_error(*response), request.what));
}

Result<S3Store::Written> S3Store::write_parts(const ObjectKey& key, const Content& content,
                                              const std::vector<http::Header>& headers) {
  const S3Upload upload{key, content, headers, conditional_, "store " + shown(key)};
  JPROF_TRY_ASSIGN(S3UploadEnd end, upload_in_parts(exchange_, upload, sizes_));
  if (end == S3UploadEnd::kConflict) {
    // S3's documentation: after a 409 the upload must be made anew.
    JPROF_TRY_ASSIGN(end, upload_in_parts(exchange_, upload, sizes_));
  }
  switch (end) {
  case S3UploadEnd::kCreated:
    return Written::kCreated;
  case S3UploadEnd::kUnproven:
    return Written::kUnproven;
  case S3UploadEnd::kExists:
    return Written::kTaken;
  case S3UploadEnd::kConflict:
    break;
  case S3UploadEnd::kVanished: {
    JPROF_TRY_ASSIGN(const http::HttpResponse there, head(key, {404}));
    if (there.ok()) {
      return Written::kTaken; // completed, but the answer was lost: compare() has the last word
    }
    break;
  }
  }
  return base::make_failure(ErrorCode::kUnavailable,
                            "cannot store " + shown(key) + ": the upload in parts was lost");
}

Result<S3Store::Written> S3Store::write(const ObjectKey& key, const Content& content,
                                        const std::vector<http::Header>& headers,
                                        const BodyDigests& digests) {
  return content.body.size_bytes() > sizes_.part_bytes
             ? write_parts(key, content, headers)
             : write_whole(key, content, headers, digests);
}

Result<PutReceipt> S3Store::put(const ObjectKey& key, const Content& content,
                                const PutOptions& options) {
  // A body in parts carries no digest of the whole that the service would check.
  JPROF_TRY_ASSIGN(const BodyDigests digests, digests_of(content.body));
  if (digests.sha256 != content.sha256) {
    return base::make_failure(ErrorCode::kInvalidData,
                              "the bytes for " + shown(key) + " changed since they were sealed");
  }
  const auto headers = object_headers(content, options);
  JPROF_TRY_ASSIGN(Written written, write(key, content, headers, digests));
  if (written == Written::kUnconditionalNeeded) {
    conditional_ = false;
    JPROF_TRY_ASSIGN(const http::HttpResponse there, head(key, {404}));
    if (there.ok()) {
      return compare(key, content);
    }
    JPROF_TRY_ASSIGN(written, write(key, content, headers, digests));
  }
  if (written == Written::kTaken) {
    return compare(key, content);
  }
  if (written == Written::kUnproven) {
    return prove(key, content);
  }
  return PutReceipt{PutReceipt::Outcome::kCreated, shown(key)};
}

// The service said that it has the object, but not what it has: reading it shows that.
Result<PutReceipt> S3Store::prove(const ObjectKey& key, const Content& content) {
  constexpr const char* kCure =
      "check what answers at the endpoint: a portal or a proxy on the way "
      "may say 200 to everything";
  JPROF_TRY_ASSIGN(const http::HttpResponse there, head(key, {403, 404}));
  const bool in_parts = content.body.size_bytes() > sizes_.part_bytes;
  if (there.status == 403 && in_parts) {
    // It gave an id, a tag for each part and put them together: nothing but a store does that.
    return PutReceipt{PutReceipt::Outcome::kThereUnchecked, shown(key)};
  }
  if (there.status == 403) {
    return base::make_failure(ErrorCode::kUnavailable,
                              "whether " + shown(key) +
                                  " is stored is unknown: the answer names neither its MD5 nor "
                                  "its SHA-256, and the credentials may not look at it",
                              std::string("allow s3:GetObject; or ") + kCure);
  }
  if (there.ok() && number_in(there.header("content-length")) == content.body.size_bytes() &&
      digest_from_hex(there.header(kDigestHeader)) == content.sha256) {
    return PutReceipt{PutReceipt::Outcome::kCreated, shown(key)};
  }
  return base::make_failure(ErrorCode::kUnavailable,
                            shown(key) + " is not stored, though the answer was a success", kCure);
}

Result<PutReceipt> S3Store::compare(const ObjectKey& key, const Content& content) {
  S3Request request = look_at(key);
  // It refused the object because this one is there: another writer's, of this very moment.
  request.is_early = [](const http::HttpResponse& answer) { return answer.status == 404; };
  JPROF_TRY_ASSIGN(const http::HttpResponse response, exchange_.send(request, {403}));
  if (response.status == 403) {
    return PutReceipt{PutReceipt::Outcome::kThereUnchecked, shown(key)};
  }
  const auto digest = digest_from_hex(response.header(kDigestHeader));
  if (number_in(response.header("content-length")) == content.body.size_bytes() &&
      digest == content.sha256) {
    return PutReceipt{PutReceipt::Outcome::kAlreadyThere, shown(key)};
  }
  return base::make_failure(ErrorCode::kAlreadyExists, shown(key) + " exists with other content");
}

S3Request S3Store::look_at(const ObjectKey& key) const {
  S3Request request;
  request.what = "look at " + shown(key);
  request.method = "HEAD";
  request.key = key.text();
  return request;
}

Result<http::HttpResponse> S3Store::head(const ObjectKey& key, const std::vector<int>& expected) {
  return exchange_.send(look_at(key), expected);
}

Result<ObjectInfo> S3Store::info(const ObjectKey& key) {
  JPROF_TRY_ASSIGN(const http::HttpResponse response, head(key, {}));
  return ObjectInfo{number_in(response.header("content-length")),
                    digest_from_hex(response.header(kDigestHeader))};
}

Status S3Store::get(const ObjectKey& key, const std::function<Status(std::string_view)>& sink) {
  S3Request request;
  request.what = "fetch " + shown(key);
  request.method = "GET";
  request.key = key.text();
  // A repetition starts at the beginning: what the sink already has is passed over.
  std::uint64_t delivered = 0;
  std::uint64_t position = 0;
  request.on_body = [&](std::string_view piece) -> Status {
    const std::uint64_t known = std::min<std::uint64_t>(delivered - position, piece.size());
    position += piece.size();
    if (known == piece.size()) {
      return {};
    }
    delivered = position;
    return sink(piece.substr(static_cast<std::size_t>(known)));
  };
  request.on_start = [&] { position = 0; };
  JPROF_TRY(exchange_.send(request));
  return {};
}

Result<std::string>
S3Store::list_page(const std::string& prefix, const std::string& token,
                   const std::function<Status(const ObjectKey&, std::uint64_t)>& visitor) {
  const S3Location& at = exchange_.location();
  S3Request request;
  request.what = "list s3://" + at.bucket + "/" + at.full_key(prefix);
  request.method = "GET";
  request.query = {{"list-type", "2"}, {"prefix", at.full_key(prefix)}};
  if (!token.empty()) {
    request.query.emplace_back("continuation-token", token);
  }
  JPROF_TRY_ASSIGN(const http::HttpResponse response, exchange_.send(request));
  auto page = parse_xml(response.body);
  if (!page || page->name != "ListBucketResult") {
    return base::make_failure(ErrorCode::kProtocol,
                              "cannot " + request.what + ": no list came back",
                              "check that the endpoint is an S3 service");
  }
  const std::string root = at.full_key("");
  for (const XmlElement& element : page->children) {
    const std::string_view full = element.child_text("Key");
    if (element.name != "Contents" || !full.starts_with(root)) {
      continue;
    }
    if (const auto key = ObjectKey::parse(full.substr(root.size()))) {
      JPROF_TRY(visitor(*key, number_in(element.child_text("Size"))));
    }
  }
  return std::string(page->child_text("IsTruncated") == "true"
                         ? page->child_text("NextContinuationToken")
                         : std::string_view());
}

Status S3Store::list(const std::string& prefix,
                     const std::function<Status(const ObjectKey&, std::uint64_t)>& visitor) {
  std::string token;
  do {
    JPROF_TRY_ASSIGN(std::string next, list_page(prefix, token, visitor));
    if (!next.empty() && next == token) {
      return base::make_failure(ErrorCode::kProtocol, "the store's list does not end");
    }
    token = std::move(next);
  } while (!token.empty());
  return {};
}

} // namespace

std::unique_ptr<ObjectStore> make_s3_store(S3ExchangeOptions options, const S3Sizes& sizes) {
  return std::make_unique<S3Store>(std::move(options), sizes);
}

} // namespace jprof::store
