// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/elf/symbol_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <elf.h>
#include <span>

namespace jprof::elf {
namespace {

constexpr std::size_t kBlockBytes = 64U << 10;
// A symbol without a size (assembly) reaches at most so far.
constexpr std::uint64_t kMaxUnsizedBytes = 4096;
// Symbols may lie within others; so many are tried before the nearest is given up.
constexpr int kMaxNested = 16;

bool is_function(const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 &&
         (type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && symbol.st_size > 0));
}

const Part* find_section(const ElfFile& file, std::uint32_t type) {
  const auto found = std::ranges::find(file.sections(), type, &Part::type);
  return found == file.sections().end() ? nullptr : &*found;
}

} // namespace

SymbolTable SymbolTable::load(const ElfFile& file) {
  SymbolTable table(file);
  for (const std::uint32_t type : {std::uint32_t{SHT_SYMTAB}, std::uint32_t{SHT_DYNSYM}}) {
    const Part* section = find_section(file, type);
    if (table.symbols_.empty() && section != nullptr && section->link < file.sections().size()) {
      table.read_symbols(*section, file.sections()[section->link]);
    }
  }
  return table;
}

void SymbolTable::read_symbols(const Part& section, const Part& strings) {
  if (section.entry_bytes != sizeof(Elf64_Sym) || strings.type != SHT_STRTAB) {
    return;
  }
  strings_ = strings;
  const std::uint64_t count =
      std::min<std::uint64_t>(section.bytes / sizeof(Elf64_Sym), kMaxSymbols);
  std::vector<Elf64_Sym> block(kBlockBytes / sizeof(Elf64_Sym));
  for (std::uint64_t at = 0; at < count; at += block.size()) {
    block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), count - at)));
    if (!file_->source().read(section.offset + at * sizeof(Elf64_Sym),
                              std::as_writable_bytes(std::span(block)))) {
      break;
    }
    for (const Elf64_Sym& symbol : block) {
      if (is_function(symbol)) {
        symbols_.push_back(
            {symbol.st_value,
             static_cast<std::uint32_t>(std::min<std::uint64_t>(symbol.st_size, UINT32_MAX)),
             symbol.st_name});
      }
    }
  }
  std::ranges::stable_sort(symbols_, {}, &Symbol::start);
}

std::optional<SymbolAt> SymbolTable::find(std::uint64_t address) const {
  auto at = std::ranges::upper_bound(symbols_, address, {}, &Symbol::start);
  for (int i = 0; i < kMaxNested && at != symbols_.begin(); ++i) {
    --at;
    const std::uint64_t reach = at->bytes > 0 ? at->bytes : kMaxUnsizedBytes;
    if (address - at->start < reach) {
      std::string name = name_of(*at);
      if (!name.empty()) {
        return SymbolAt{std::move(name), at->start};
      }
    }
  }
  return std::nullopt;
}

std::string SymbolTable::name_of(const Symbol& symbol) const {
  if (symbol.name >= strings_.bytes) {
    return {};
  }
  std::string name(static_cast<std::size_t>(
                       std::min<std::uint64_t>(kMaxSymbolBytes, strings_.bytes - symbol.name)),
                   '\0');
  if (!file_->source().read(strings_.offset + symbol.name,
                            std::as_writable_bytes(std::span(name)))) {
    return {};
  }
  if (const std::size_t end = name.find('\0'); end != std::string::npos) {
    name.resize(end);
  }
  return name;
}

FunctionStarts FunctionStarts::load(const ElfFile& file) {
  FunctionStarts out;
  const auto segment =
      std::ranges::find(file.segments(), std::uint32_t{PT_GNU_EH_FRAME}, &Part::type);
  if (segment == file.segments().end()) {
    return out;
  }
  // Version 1, pointer to .eh_frame (pc-relative sdata4), count (udata4), table (datarel sdata4):
  // the only encodings that linkers write.
  struct Head {
    std::uint8_t version, frame_encoding, count_encoding, table_encoding;
    std::int32_t frame;
    std::uint32_t count;
  } head{};
  if (!file.source().read(segment->offset, std::as_writable_bytes(std::span(&head, 1))) ||
      head.version != 1 || head.frame_encoding != 0x1b || head.count_encoding != 0x03 ||
      head.table_encoding != 0x3b) {
    return out;
  }
  struct Entry {
    std::int32_t start, frame;
  };
  const std::uint64_t room =
      segment->bytes < sizeof(head) ? 0 : (segment->bytes - sizeof(head)) / sizeof(Entry);
  const std::uint64_t count = std::min<std::uint64_t>({head.count, room, kMaxSymbols});
  std::vector<Entry> entries(static_cast<std::size_t>(count));
  if (!file.source().read(segment->offset + sizeof(head),
                          std::as_writable_bytes(std::span(entries)))) {
    return out;
  }
  out.starts_.reserve(entries.size());
  for (const Entry& entry : entries) {
    out.starts_.push_back(segment->address +
                          static_cast<std::uint64_t>(static_cast<std::int64_t>(entry.start)));
  }
  std::ranges::sort(out.starts_); // sorted already, unless somebody made it up
  return out;
}

std::optional<std::uint64_t> FunctionStarts::find(std::uint64_t address) const {
  const auto behind = std::ranges::upper_bound(starts_, address);
  return behind == starts_.begin() ? std::nullopt : std::optional(*std::prev(behind));
}

} // namespace jprof::elf
