// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/symbols/module_image.h"

#include <cstddef>
#include <cstring>
#include <elf.h>

namespace jprof::symbols {
namespace {

// The headers, then the pieces; gABI chapters 4 and 5.
struct Headers {
  Elf64_Ehdr file;
  Elf64_Phdr frame_header;
  Elf64_Shdr none;
  Elf64_Shdr symbols;
  Elf64_Shdr strings;
};
constexpr std::uint16_t kSections = 3;
constexpr std::uint32_t kStringsIndex = 2;

} // namespace

std::unique_ptr<elf::ByteSource> make_image(const ModulePieces& pieces) {
  Headers headers{};
  std::memcpy(headers.file.e_ident, ELFMAG, SELFMAG);
  headers.file.e_ident[EI_CLASS] = ELFCLASS64;
  headers.file.e_ident[EI_DATA] = ELFDATA2LSB;
  headers.file.e_machine = EM_X86_64; // of no meaning for symbols
  headers.file.e_phoff = offsetof(Headers, frame_header);
  headers.file.e_phentsize = sizeof(Elf64_Phdr);
  headers.file.e_phnum = pieces.frame_header.empty() ? 0 : 1;
  headers.file.e_shoff = offsetof(Headers, none);
  headers.file.e_shentsize = sizeof(Elf64_Shdr);
  headers.file.e_shnum = kSections;
  headers.symbols.sh_type = SHT_DYNSYM;
  headers.symbols.sh_offset = sizeof(Headers);
  headers.symbols.sh_size = pieces.symbols.size();
  headers.symbols.sh_link = kStringsIndex;
  headers.symbols.sh_entsize = sizeof(Elf64_Sym);
  headers.strings.sh_type = SHT_STRTAB;
  headers.strings.sh_offset = headers.symbols.sh_offset + pieces.symbols.size();
  headers.strings.sh_size = pieces.strings.size();
  headers.frame_header.p_type = PT_GNU_EH_FRAME;
  headers.frame_header.p_vaddr = pieces.frame_header_address;
  headers.frame_header.p_offset = headers.strings.sh_offset + pieces.strings.size();
  headers.frame_header.p_filesz = pieces.frame_header.size();
  std::string image(reinterpret_cast<const char*>(&headers), sizeof(headers));
  image.reserve(image.size() + pieces.symbols.size() + pieces.strings.size() +
                pieces.frame_header.size());
  image += pieces.symbols;
  image += pieces.strings;
  image += pieces.frame_header;
  return elf::make_memory_source(std::move(image));
}

} // namespace jprof::symbols
