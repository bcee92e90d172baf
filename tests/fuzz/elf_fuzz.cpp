// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Attack surface: a library in the file system of a hostile JVM. Sought: reads outside the file,
// memory or time out of proportion to it.
#include "lib/elf/elf_file.h"
#include "lib/elf/symbol_table.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jprof::elf;
  const auto file =
      ElfFile::open(make_memory_source(std::string(reinterpret_cast<const char*>(data), size)));
  if (!file) {
    return 0;
  }
  const SymbolTable symbols = SymbolTable::load(*file);
  const FunctionStarts starts = FunctionStarts::load(*file);
  if (symbols.size() > size || starts.size() > size) {
    std::abort();
  }
  for (std::uint64_t address = 0; address < 0x4000; address += 0x123) {
    symbols.find(address);
    starts.find(address);
    file->offset_of(address);
  }
  return 0;
}
