// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/object_store.h"

#include "lib/base/counted.h"

#include <algorithm>
#include <charconv>
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

std::string unchecked_note(const std::vector<PutReceipt::Outcome>& outcomes) {
  const auto objects =
      std::count(outcomes.begin(), outcomes.end(), PutReceipt::Outcome::kThereUnchecked);
  return objects == 0 ? std::string()
                      : base::counted(static_cast<std::uint64_t>(objects), "object") +
                            " could not be compared with what the store has: the "
                            "credentials may not read them (s3:GetObject)";
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

std::optional<base::Sha256> digest_from_hex(std::string_view text) {
  base::Sha256 out;
  if (text.size() != out.size() * 2) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    unsigned value = 0;
    const char* const at = text.data() + 2 * i;
    if (std::from_chars(at, at + 2, value, 16).ptr != at + 2) {
      return std::nullopt;
    }
    out[i] = static_cast<std::byte>(value);
  }
  return out;
}

} // namespace jprof::store
