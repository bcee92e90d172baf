// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the dynamic loader has mapped, from dl_iterate_phdr: the one libc function that the agent
// imports. It finds everything else that it needs from libc here, by name. Not signal-safe (the
// loader takes its lock); the agent's own thread or the attach listener's.

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <link.h>

namespace jprof::agent::os {

// One loaded module. Pointers are into the module's own image and live as long as it is mapped.
struct LoadedModule {
  const char* path = ""; // as the loader knows it; empty for the main program
  std::uint64_t bias = 0;
  std::uint64_t base = 0;
  std::uint64_t end = 0;
  std::uint64_t code_begin = 0; // executable segments
  std::uint64_t code_end = 0;
  std::uint64_t data_begin = 0; // writable segments, ...
  std::uint64_t data_end = 0;
  std::uint64_t sealed_begin = 0; // ... and the part of them that is read-only after relocation
  std::uint64_t sealed_end = 0;
  std::uint64_t eh_frame_header = 0; // 0: none
  std::uint64_t eh_frame_header_bytes = 0;
  const Elf64_Dyn* dynamic = nullptr;
  const Elf64_Phdr* headers = nullptr; // valid during the visit
  std::uint32_t header_count = 0;
  std::uint64_t loads = 0;   // how many times the loader has loaded anything, ...
  std::uint64_t unloads = 0; // ... unloaded anything
};

// True if the program may write there: .data or .bss.
bool is_data(const LoadedModule& module, std::uint64_t address);

// Calls visit(module, context) for each until it returns false.
void visit_modules(bool (*visit)(const LoadedModule& module, void* context), void* context);

// True for the page of code that the kernel maps into every process, if the loader gives it no name
// (musl). Some loaders give the main program no name either (glibc), but that one names its loader,
// or nothing could have loaded us. During the visit.
bool is_nameless_vdso(const LoadedModule& module);

// Copies the module's build-id; its length, 0 if it has none. With protected loads: programs that
// shrink ELF files leave headers for notes that are not in memory. During the visit.
std::size_t read_build_id(const LoadedModule& module, std::uint8_t* to, std::size_t bytes);

// Where a module's dynamic symbols are in memory; all 0 if it has none. They are inside the module.
struct DynamicSymbols {
  std::uint64_t symbols = 0; // Elf64_Sym[count]
  std::uint64_t count = 0;
  std::uint64_t strings = 0;
  std::uint64_t string_bytes = 0;
};
DynamicSymbols dynamic_symbols(const LoadedModule& module);

// The address of a defined dynamic symbol of this module; null if it has none.
void* find_symbol(const LoadedModule& module, const char* name);

// The first definition among all modules, in load order; null if there is none.
void* find_symbol_anywhere(const char* name);

// The first definition in a module whose file name begins with `prefix`, as in "libjvm.so".
void* find_symbol_in(const char* prefix, const char* name);

// The loader's counts of loads and unloads, added up: changes whenever the modules do.
std::uint64_t module_changes();

// The file name part of a path.
const char* file_name(const char* path);

bool starts_with(const char* text, const char* prefix);
bool equal(const char* left, const char* right);

} // namespace jprof::agent::os
