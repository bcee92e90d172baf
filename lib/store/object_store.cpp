// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/object_store.h"

#include <span>

namespace jprof::store {

Result<std::string> get_text(ObjectStore& store, const ObjectKey& key, std::size_t limit_bytes) {
  std::string out;
  JPROF_TRY(store.get(key, [&](std::string_view piece) -> Status {
    if (out.size() + piece.size() > limit_bytes) {
      return base::make_failure(base::ErrorCode::kLimit, key.text() + " is larger than " +
                                                             std::to_string(limit_bytes) +
                                                             " bytes");
    }
    out += piece;
    return {};
  }));
  return out;
}

Result<PutReceipt> put_text(ObjectStore& store, const ObjectKey& key, std::string_view text,
                            const PutOptions& options) {
  const http::MemoryBody body(text);
  return store.put(key, Content{body, base::sha256(text)}, options);
}

Result<base::Sha256> digest_of(const http::BodySource& body) {
  base::Sha256Stream stream;
  std::vector<char> buffer(std::size_t{64} * 1024);
  std::uint64_t offset = 0;
  while (offset < body.size_bytes()) {
    JPROF_TRY_ASSIGN(const std::size_t got,
                     body.read(offset, std::as_writable_bytes(std::span(buffer))));
    if (got == 0) {
      return base::make_failure(base::ErrorCode::kIo, "the bytes to store end too early");
    }
    stream.update({buffer.data(), got});
    offset += got;
  }
  return stream.finish();
}

} // namespace jprof::store
