// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/elf/elf_file.h"
#include "lib/elf/symbol_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <random>
#include <string>

// A function of known name in this very program, of eight bytes at least however it is compiled.
extern "C" __attribute__((noinline, used, visibility("default"))) int jprof_elf_test_anchor(int x) {
  asm volatile(".skip 8, 0x90");
  return x * 3 + 1;
}

namespace jprof::elf {
namespace {

std::string own_program() {
  return base::read_file("/proc/self/exe", 512U << 20).value();
}

ElfFile open_bytes(std::string bytes) {
  return ElfFile::open(make_memory_source(std::move(bytes))).value();
}

// The link-time address of something in this program.
std::uint64_t linked_address(const void* address) {
  struct Search {
    std::uint64_t address;
    std::uint64_t bias = 0;
  } search{reinterpret_cast<std::uint64_t>(address)};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* opaque) {
        auto& s = *static_cast<Search*>(opaque);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && s.address >= begin &&
              s.address < begin + segment.p_memsz) {
            s.bias = info->dlpi_addr;
          }
        }
        return 0;
      },
      &search);
  return search.address - search.bias;
}

TEST(SymbolTable, FindsAFunctionOfThisProgramAtEachOfItsBytes) {
  const ElfFile file =
      ElfFile::open(make_file_source(base::open_read("/proc/self/exe").value())).value();
  const SymbolTable symbols = SymbolTable::load(file);
  const std::uint64_t anchor =
      linked_address(reinterpret_cast<const void*>(&jprof_elf_test_anchor));

  for (std::uint64_t offset = 0; offset < 5; offset += 2) {
    const auto found = symbols.find(anchor + offset);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, "jprof_elf_test_anchor");
    EXPECT_EQ(found->start, anchor);
  }
  EXPECT_GT(symbols.size(), 100U);
}

TEST(SymbolTable, NamesNothingFarFromAnySymbol) {
  const ElfFile file = open_bytes(own_program());
  const SymbolTable symbols = SymbolTable::load(file);

  EXPECT_FALSE(symbols.find(0));
  EXPECT_FALSE(symbols.find(UINT64_MAX));
}

TEST(FunctionStarts, KnowsWhereAFunctionBegins) {
  const ElfFile file = open_bytes(own_program());
  const FunctionStarts starts = FunctionStarts::load(file);
  const std::uint64_t anchor =
      linked_address(reinterpret_cast<const void*>(&jprof_elf_test_anchor));

  EXPECT_EQ(starts.find(anchor + 5), anchor);
  EXPECT_FALSE(starts.find(0));
}

TEST(ElfFile, GivesTheBuildIdOfALibraryThatHasOne) {
  Dl_info info{};
  ASSERT_NE(::dladdr(reinterpret_cast<const void*>(&std::strlen), &info), 0);
  const ElfFile libc =
      ElfFile::open(make_file_source(base::open_read(info.dli_fname).value())).value();

  EXPECT_EQ(libc.build_id().size(), 20U);
  EXPECT_FALSE(libc.segments().empty());
}

TEST(ElfFile, RefusesWhatIsNoElfFileOfOurs) {
  const auto code = [](std::string bytes) {
    return ElfFile::open(make_memory_source(std::move(bytes))).error().code;
  };
  std::string program = own_program();

  EXPECT_EQ(code(""), base::ErrorCode::kInvalidData);
  EXPECT_EQ(code("#!/bin/sh\n"), base::ErrorCode::kInvalidData);
  EXPECT_EQ(code(program.substr(0, 63)), base::ErrorCode::kInvalidData);
  EXPECT_EQ(code(program.substr(0, 64)), base::ErrorCode::kInvalidData); // segments are missing
  program[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(code(program.substr(0, 4096)), base::ErrorCode::kInvalidData);
}

TEST(ElfFile, WorksWithoutSections) {
  std::string program = own_program();
  Elf64_Ehdr header;
  std::memcpy(&header, program.data(), sizeof(header));
  header.e_shoff = UINT64_MAX - 3;
  std::memcpy(program.data(), &header, sizeof(header));

  const ElfFile file = open_bytes(program);

  EXPECT_TRUE(file.sections().empty());
  EXPECT_EQ(SymbolTable::load(file).size(), 0U);
  EXPECT_GT(FunctionStarts::load(file).size(), 100U);
}

// Sections that claim more than there is, names that never end.
TEST(SymbolTable, SurvivesDamagedTables) {
  const std::string program = own_program();
  const ElfFile sound = open_bytes(program);
  Elf64_Ehdr header;
  std::memcpy(&header, program.data(), sizeof(header));
  std::mt19937_64 random(3);
  for (int round = 0; round < 60; ++round) {
    std::string bad = program;
    char* sections = bad.data() + header.e_shoff;
    for (int i = 0; i < 40; ++i) {
      const std::size_t at = random() % (std::size_t{header.e_shnum} * sizeof(Elf64_Shdr) / 8);
      const std::uint64_t value = round % 2 == 0 ? random() : random() % 100'000;
      std::memcpy(sections + at * 8, &value, sizeof(value));
    }
    const auto file = ElfFile::open(make_memory_source(std::move(bad)));
    if (!file) {
      continue;
    }
    const SymbolTable symbols = SymbolTable::load(*file);
    EXPECT_LE(symbols.size(), kMaxSymbols);
    for (int i = 0; i < 100; ++i) {
      const auto found = symbols.find(random() % program.size());
      if (found) {
        EXPECT_LE(found->name.size(), kMaxSymbolBytes);
      }
    }
  }
}

} // namespace
} // namespace jprof::elf
