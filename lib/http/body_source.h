// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace jprof::http {

using base::Result;
using base::Status;

// Bytes to send. They are read by offset, so that a request can be sent again from the start and a
// file can be sent in parts. Several threads may read an implementation at once.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual std::uint64_t size_bytes() const = 0;
  // Fills `out` from `offset` and returns how much: less than asked only at the end.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> out) const = 0;
};

// Text that the caller keeps alive.
class MemoryBody : public BodySource {
 public:
  explicit MemoryBody(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t size_bytes() const override { return bytes_.size(); }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> out) const override;

 private:
  std::string_view bytes_;
};

// A piece of a file whose descriptor the caller keeps open. A file that became shorter is kIo.
class FileBody : public BodySource {
 public:
  FileBody(int fd, std::uint64_t offset, std::uint64_t size_bytes)
      : fd_(fd), offset_(offset), size_bytes_(size_bytes) {}
  std::uint64_t size_bytes() const override { return size_bytes_; }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> out) const override;

 private:
  int fd_;
  std::uint64_t offset_;
  std::uint64_t size_bytes_;
};

} // namespace jprof::http
