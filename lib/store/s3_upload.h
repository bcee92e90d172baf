// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/store/object_store.h"
#include "lib/store/s3_exchange.h"
#include "lib/store/s3_store.h"

namespace jprof::store {

// Inside lib/store only: an object that goes up in parts (CreateMultipartUpload and so on).
struct S3Upload {
  const ObjectKey& key;
  const Content& content;
  std::vector<http::Header> headers; // of the object: type, metadata, tags
  bool conditional = true;           // whether the service knows If-None-Match
  std::string what;
};

enum class S3UploadEnd { kCreated, kUnproven, kExists, kConflict, kVanished };

// kCreated: the service has proved it (s3_proof.h). kUnproven: it says so, but its ETag does not
// match these parts (encrypted by a KMS, or computed differently). kExists: the key is taken.
// kConflict: another write of this key was in progress; start again. kVanished: the service no
// longer knows the upload, perhaps because it was completed and the answer was lost. In any other
// case, and for every Error, the upload has been aborted as far as possible.
Result<S3UploadEnd> upload_in_parts(S3Exchange& exchange, const S3Upload& upload,
                                    const S3Sizes& sizes);

} // namespace jprof::store
