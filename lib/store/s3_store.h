// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/store/object_store.h"
#include "lib/store/s3_exchange.h"

#include <cstdint>
#include <memory>

namespace jprof::store {

// From this size on an object goes up in parts of this size, one after the other, so that a broken
// connection costs one part and memory stays small. S3 allows 5 MiB to 5 GiB, 10000 parts.
struct S3Sizes {
  std::uint64_t part_bytes = std::uint64_t{16} * 1024 * 1024;
  std::uint64_t max_parts = 10000;
};

// Objects in a bucket of S3 or of a service that speaks its protocol. Created by If-None-Match: *;
// where a service does not know that, by looking first (two writers of one key could then both
// succeed; keys carry the capture's id). The SHA-256 travels as metadata, which info() reads.
std::unique_ptr<ObjectStore> make_s3_store(S3ExchangeOptions options, const S3Sizes& sizes = {});

} // namespace jprof::store
