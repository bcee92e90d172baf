// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/elf/byte_source.h"

#include "lib/base/file.h"

#include <cstring>
#include <utility>

namespace jprof::elf {
namespace {

class FileSource final : public ByteSource {
 public:
  explicit FileSource(base::UniqueFd fd) : fd_(std::move(fd)) {}
  bool read(std::uint64_t offset, std::span<std::byte> out) const override {
    constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << 62; // pread takes a signed one
    return offset <= kMaxOffset && base::pread_exact(fd_.get(), out, offset, "ELF file");
  }

 private:
  base::UniqueFd fd_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}
  bool read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
      return false;
    }
    if (!out.empty()) { // of an empty table: memcpy takes no null pointer
      std::memcpy(out.data(), bytes_.data() + offset, out.size());
    }
    return true;
  }

 private:
  std::string bytes_;
};

} // namespace

std::unique_ptr<ByteSource> make_file_source(base::UniqueFd fd) {
  return std::make_unique<FileSource>(std::move(fd));
}

std::unique_ptr<ByteSource> make_memory_source(std::string bytes) {
  return std::make_unique<MemorySource>(std::move(bytes));
}

} // namespace jprof::elf
