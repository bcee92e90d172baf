// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace jprof::elf {

// Bytes at offsets: a foreign file, or memory. Read by copying only: a file that shrinks while it
// is read is a short read, never a fault.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills all of `out`; false if the source has not so much there.
  virtual bool read(std::uint64_t offset, std::span<std::byte> out) const = 0;
};

// Owns the descriptor of a regular file.
std::unique_ptr<ByteSource> make_file_source(base::UniqueFd fd);
std::unique_ptr<ByteSource> make_memory_source(std::string bytes);

} // namespace jprof::elf
