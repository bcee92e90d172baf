// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/elf/elf_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jprof::elf {

inline constexpr std::size_t kMaxSymbols = 1U << 20;
inline constexpr std::size_t kMaxSymbolBytes = 4096; // of a name: longer ones are cut

struct SymbolAt {
  std::string name;        // as in the file, mangled
  std::uint64_t start = 0; // link-time address
};

// The functions of one file, for many look-ups: .symtab if there is one, else .dynsym. Names stay
// in the file until they are asked for, so the table costs 16 bytes a function. The ElfFile must
// outlive it. Immutable; any thread.
class SymbolTable {
 public:
  static SymbolTable load(const ElfFile& file);

  // The function that holds this link-time address; none where only a far one precedes it.
  std::optional<SymbolAt> find(std::uint64_t address) const;
  std::size_t size() const { return symbols_.size(); }

 private:
  struct Symbol {
    std::uint64_t start;
    std::uint32_t bytes; // 0: unknown
    std::uint32_t name;  // offset in the string table
  };

  explicit SymbolTable(const ElfFile& file) : file_(&file) {}
  void read_symbols(const Part& section, const Part& strings);
  std::string name_of(const Symbol& symbol) const;

  const ElfFile* file_;
  Part strings_;
  std::vector<Symbol> symbols_;
};

// Where functions begin, by the sorted table of .eh_frame_hdr (LSB 5.0, 10.6.2), which stripped
// files also have: it groups addresses that no symbol names.
class FunctionStarts {
 public:
  static FunctionStarts load(const ElfFile& file);

  // The last start at or before `address`.
  std::optional<std::uint64_t> find(std::uint64_t address) const;
  std::size_t size() const { return starts_.size(); }

 private:
  std::vector<std::uint64_t> starts_;
};

} // namespace jprof::elf
