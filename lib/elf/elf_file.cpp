// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/elf/elf_file.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <span>

namespace jprof::elf {
namespace {

using base::ErrorCode;

constexpr std::uint16_t kMaxSections = 8192;
constexpr std::uint16_t kMaxSegments = 512;
constexpr std::uint64_t kMaxNoteBytes = 64U << 10;
constexpr std::uint32_t kMaxBuildIdBytes = 64;

base::Error bad(const std::string& what) {
  return base::make_error(ErrorCode::kInvalidData, "not a usable ELF file: " + what);
}

template <typename Struct>
bool read_struct(const ByteSource& source, std::uint64_t offset, Struct& out) {
  return source.read(offset, std::as_writable_bytes(std::span(&out, 1)));
}

std::string build_id_in(const std::string& notes) {
  std::size_t at = 0;
  while (notes.size() - at >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof(note));
    at += sizeof(note);
    const std::uint64_t name = (std::uint64_t{note.n_namesz} + 3) / 4 * 4;
    const std::uint64_t description = (std::uint64_t{note.n_descsz} + 3) / 4 * 4;
    if (name > notes.size() - at || description > notes.size() - at - name) {
      return {};
    }
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes.data() + at, "GNU", 4) == 0 && note.n_descsz <= kMaxBuildIdBytes) {
      return notes.substr(at + name, note.n_descsz);
    }
    at += name + description;
  }
  return {};
}

} // namespace

base::Result<ElfFile> ElfFile::open(std::unique_ptr<ByteSource> source) {
  Elf64_Ehdr header{};
  if (!read_struct(*source, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return base::fail(bad("no ELF header"));
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)) {
    return base::fail(bad("neither x86-64 nor aarch64"));
  }
  ElfFile file;
  file.source_ = std::move(source);
  JPROF_TRY(file.read_segments(header.e_phoff, header.e_phnum, header.e_phentsize));
  JPROF_TRY(file.read_sections(header.e_shoff, header.e_shnum, header.e_shentsize));
  file.find_build_id();
  return file;
}

base::Status ElfFile::read_sections(std::uint64_t offset, std::uint16_t count,
                                    std::uint16_t entry_bytes) {
  // No table at all is a stripped file; one that cannot be read is a memory image, whose sections
  // lie behind what is mapped.
  if (offset == 0 || count == 0 || count > kMaxSections || entry_bytes != sizeof(Elf64_Shdr)) {
    return {};
  }
  std::vector<Elf64_Shdr> headers(count);
  if (!source_->read(offset, std::as_writable_bytes(std::span(headers)))) {
    return {};
  }
  for (const Elf64_Shdr& header : headers) {
    sections_.push_back({header.sh_type, header.sh_addr, header.sh_offset,
                         header.sh_type == SHT_NOBITS ? 0 : header.sh_size, header.sh_link,
                         header.sh_entsize});
  }
  return {};
}

base::Status ElfFile::read_segments(std::uint64_t offset, std::uint16_t count,
                                    std::uint16_t entry_bytes) {
  if (count == 0) {
    return {}; // a debug file may have none
  }
  if (count > kMaxSegments || entry_bytes != sizeof(Elf64_Phdr)) {
    return base::fail(bad("odd segments"));
  }
  std::vector<Elf64_Phdr> headers(count);
  if (!source_->read(offset, std::as_writable_bytes(std::span(headers)))) {
    return base::fail(bad("it ends before its segments"));
  }
  for (const Elf64_Phdr& header : headers) {
    segments_.push_back({header.p_type, header.p_vaddr, header.p_offset, header.p_filesz, 0, 0});
  }
  return {};
}

void ElfFile::find_build_id() {
  const auto look_at = [this](const Part& part) {
    if (!build_id_.empty() || part.bytes == 0 || part.bytes > kMaxNoteBytes) {
      return;
    }
    std::string notes(static_cast<std::size_t>(part.bytes), '\0');
    if (source_->read(part.offset, std::as_writable_bytes(std::span(notes)))) {
      build_id_ = build_id_in(notes);
    }
  };
  for (const Part& segment : segments_) {
    if (segment.type == PT_NOTE) {
      look_at(segment);
    }
  }
  for (const Part& section : sections_) {
    if (section.type == SHT_NOTE) {
      look_at(section);
    }
  }
}

std::optional<std::uint64_t> ElfFile::offset_of(std::uint64_t address) const {
  for (const Part& segment : segments_) {
    if (segment.type == PT_LOAD && address >= segment.address &&
        address - segment.address < segment.bytes) {
      const std::uint64_t offset = segment.offset + (address - segment.address);
      return offset >= segment.offset ? std::optional(offset) : std::nullopt;
    }
  }
  return std::nullopt;
}

} // namespace jprof::elf
