// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/body_source.h"

#include "lib/base/file.h"

#include <algorithm>
#include <cstring>

namespace jprof::http {

Result<std::size_t> MemoryBody::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset >= bytes_.size()) {
    return std::size_t{0};
  }
  const std::string_view rest = bytes_.substr(static_cast<std::size_t>(offset));
  const std::size_t count = std::min(rest.size(), out.size());
  std::memcpy(out.data(), rest.data(), count);
  return count;
}

Result<std::size_t> FileBody::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset >= size_bytes_) {
    return std::size_t{0};
  }
  const auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes_ - offset, out.size()));
  JPROF_TRY(base::pread_exact(fd_, out.first(count), offset_ + offset, "the file being sent"));
  return count;
}

} // namespace jprof::http
