// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/digest.h"
#include "lib/http/body_source.h"
#include "lib/store/object_key.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jprof::store {

// Bytes to store and their digest, taken when they were sealed. The body is not owned and must
// outlive the call. Bytes that no longer have this digest are not stored (kInvalidData).
struct Content {
  const http::BodySource& body;
  base::Sha256 sha256;
};

struct PutOptions {
  std::string content_type = "application/octet-stream";
  // Object tags, e.g. {"jprof-trigger", "manual"}; [A-Za-z0-9._=-] only. S3 wants the permission
  // s3:PutObjectTagging for them. A store without tags (file) leaves them out.
  std::vector<std::pair<std::string, std::string>> tags;
};

struct PutReceipt {
  enum class Outcome {
    kCreated,
    kAlreadyThere,   // the same size and SHA-256: an earlier attempt whose answer was lost
    kThereUnchecked, // something is there, and we have no right to check whether it is the same
  };
  Outcome outcome = Outcome::kCreated;
  std::string location; // for people: "s3://bucket/prefix/key", "/directory/key"
};

// For people, how many of these were kThereUnchecked: "" for none. A caller that has the only other
// copy then keeps it.
std::string unchecked_note(const std::vector<PutReceipt::Outcome>& outcomes);

struct ObjectInfo {
  std::uint64_t size_bytes = 0;
  std::optional<base::Sha256> sha256; // none where the store does not know it
};

// A place for finished captures; nothing provider-specific shows. Failures, after the store's own
// repetitions: kUnavailable, kTimeout (try again later); kUnauthenticated, kForbidden, kNotFound
// (bucket or object); kAlreadyExists (other bytes have this key); kProtocol, kLimit, kIo,
// kInterrupted. One thread at a time per object.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // Whether a put() is worth trying: the place exists, answers as a store does and accepts our
  // keys. Needs no right beyond being known; only put() shows whether writing is allowed.
  virtual Status check() = 0;

  // Creates the object, never replaces one. When it returns a receipt the object is durable, whole
  // and visible; when it fails nothing is visible under the key, unless an answer was lost.
  virtual Result<PutReceipt> put(const ObjectKey& key, const Content& content,
                                 const PutOptions& options) = 0;

  virtual Result<ObjectInfo> info(const ObjectKey& key) = 0;

  // Gives the bytes to `sink` in order; an Error of the sink ends it.
  virtual Status get(const ObjectKey& key, const std::function<Status(std::string_view)>& sink) = 0;

  // Visits, in order of keys, the objects whose key starts with `prefix` ("" for all; otherwise
  // whole segments and a final '/'). Objects whose names are no keys of ours are passed over.
  virtual Status
  list(const std::string& prefix,
       const std::function<Status(const ObjectKey&, std::uint64_t size_bytes)>& visitor) = 0;

  // For people and logs, without secrets: "s3://bucket/prefix at https://host".
  virtual std::string describe() const = 0;
};

// The whole object in memory; more than `limit_bytes` is kLimit.
Result<std::string> get_text(ObjectStore& store, const ObjectKey& key, std::size_t limit_bytes);
// put() of text whose digest is taken here.
Result<PutReceipt> put_text(ObjectStore& store, const ObjectKey& key, std::string_view text,
                            const PutOptions& options);
// The digest of a body, for a Content; reads it once.
Result<base::Sha256> digest_of(const http::BodySource& body);
// 64 hexadecimal digits, as a manifest has them; none for anything else.
std::optional<base::Sha256> digest_from_hex(std::string_view text);

} // namespace jprof::store
