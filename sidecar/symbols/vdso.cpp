// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/symbols/vdso.h"

#include "lib/base/file.h"

#include <cinttypes>
#include <cstdio>
#include <string>
#include <sys/auxv.h>

namespace jprof::symbols {
namespace {

constexpr std::size_t kMaxMapsBytes = 4U << 20;
constexpr std::size_t kMaxVdsoBytes = 1U << 20;

// Bytes of the mapping that begins at `address`, by our own maps.
std::size_t mapped_bytes(std::uintptr_t address) {
  const base::Result<std::string> maps = base::read_file("/proc/self/maps", kMaxMapsBytes);
  if (!maps) {
    return 0;
  }
  for (std::size_t at = 0; at < maps->size();) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(maps->c_str() + at, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2 &&
        begin == address && end - begin <= kMaxVdsoBytes) {
      return end - begin;
    }
    const std::size_t line_end = maps->find('\n', at);
    at = line_end == std::string::npos ? maps->size() : line_end + 1;
  }
  return 0;
}

} // namespace

std::unique_ptr<elf::ByteSource> copy_vdso() {
  const std::uintptr_t address = ::getauxval(AT_SYSINFO_EHDR);
  const std::size_t bytes = address == 0 ? 0 : mapped_bytes(address);
  if (bytes == 0) {
    return nullptr;
  }
  return elf::make_memory_source(std::string(reinterpret_cast<const char*>(address), bytes));
}

} // namespace jprof::symbols
