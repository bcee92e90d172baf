// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/elf/byte_source.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jprof::elf {

// A part of the file: a section or a segment.
struct Part {
  std::uint32_t type = 0; // SHT_* or PT_*
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0; // in the file
  std::uint32_t link = 0;  // sections only
  std::uint64_t entry_bytes = 0;
};

// The headers of a 64-bit little-endian ELF file (System V gABI) from any source: counts and sizes
// are bounded here, offsets are checked where they are read. Immutable; any thread.
class ElfFile {
 public:
  // kInvalidData if it is not an ELF file, or has another class, byte order or processor than ours.
  static base::Result<ElfFile> open(std::unique_ptr<ByteSource> source);

  const std::vector<Part>& sections() const { return sections_; } // empty in memory images
  const std::vector<Part>& segments() const { return segments_; }
  const ByteSource& source() const { return *source_; }
  // The bytes of the GNU build-id note, empty if there is none.
  const std::string& build_id() const { return build_id_; }
  // Where in the file the bytes of an address are, if a segment holds them.
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const;

 private:
  ElfFile() = default;
  base::Status read_sections(std::uint64_t offset, std::uint16_t count, std::uint16_t entry_bytes);
  base::Status read_segments(std::uint64_t offset, std::uint16_t count, std::uint16_t entry_bytes);
  void find_build_id();

  std::unique_ptr<ByteSource> source_;
  std::vector<Part> sections_;
  std::vector<Part> segments_;
  std::string build_id_;
};

} // namespace jprof::elf
