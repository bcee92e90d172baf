// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/os/modules.h"

#include "agent/arch/safe_load.h"

namespace jprof::agent::os {
namespace {

template <typename T>
const T* at_address(std::uint64_t address) {
  return reinterpret_cast<const T*>(address);
}

constexpr std::uint32_t kMaxNotes = 64; // of one segment

// The build-id among the notes there.
std::size_t find_build_id(std::uint64_t at, std::uint64_t end, std::uint8_t* to,
                          std::size_t bytes) {
  for (std::uint32_t i = 0; i < kMaxNotes && end - at > sizeof(Elf64_Nhdr); ++i) {
    Elf64_Nhdr header;
    if (!arch::copy(&header, at, sizeof header)) {
      return 0;
    }
    const std::uint64_t name = at + sizeof header;
    const std::uint64_t content = name + ((std::uint64_t{header.n_namesz} + 3U) & ~3ULL);
    const std::uint64_t next = content + ((std::uint64_t{header.n_descsz} + 3U) & ~3ULL);
    if (next > end) {
      return 0;
    }
    std::uint32_t text = 0;
    constexpr std::uint32_t kGnu = 0x00554e47; // "GNU" and its NUL
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof text &&
        arch::load(name, &text) && text == kGnu) {
      const std::size_t length = header.n_descsz < bytes ? header.n_descsz : bytes;
      return arch::copy(to, content, length) ? length : 0;
    }
    at = next;
  }
  return 0;
}

LoadedModule describe(const dl_phdr_info& info) {
  LoadedModule module;
  module.path = info.dlpi_name != nullptr ? info.dlpi_name : "";
  module.bias = info.dlpi_addr;
  module.base = ~std::uint64_t{0};
  module.code_begin = ~std::uint64_t{0};
  module.data_begin = ~std::uint64_t{0};
  module.loads = info.dlpi_adds;
  module.unloads = info.dlpi_subs;
  module.headers = info.dlpi_phdr;
  module.header_count = info.dlpi_phnum;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& header = info.dlpi_phdr[i];
    const std::uint64_t begin = info.dlpi_addr + header.p_vaddr;
    const std::uint64_t end = begin + header.p_memsz;
    if (header.p_type == PT_LOAD) {
      module.base = begin < module.base ? begin : module.base;
      module.end = end > module.end ? end : module.end;
      if ((header.p_flags & PF_X) != 0) {
        module.code_begin = begin < module.code_begin ? begin : module.code_begin;
        module.code_end = end > module.code_end ? end : module.code_end;
      }
      if ((header.p_flags & PF_W) != 0) {
        module.data_begin = begin < module.data_begin ? begin : module.data_begin;
        module.data_end = end > module.data_end ? end : module.data_end;
      }
    } else if (header.p_type == PT_GNU_RELRO) {
      module.sealed_begin = begin;
      module.sealed_end = end;
    } else if (header.p_type == PT_DYNAMIC) {
      module.dynamic = at_address<Elf64_Dyn>(begin);
    } else if (header.p_type == PT_GNU_EH_FRAME) {
      module.eh_frame_header = begin;
      module.eh_frame_header_bytes = header.p_memsz;
    }
  }
  return module;
}

struct Visit {
  bool (*visit)(const LoadedModule& module, void* context);
  void* context;
};

int on_module(dl_phdr_info* info, std::size_t, void* data) {
  const auto* visit = static_cast<const Visit*>(data);
  const LoadedModule module = describe(*info);
  if (module.end == 0) {
    return 0; // maps nothing
  }
  return visit->visit(module, visit->context) ? 0 : 1;
}

struct DynamicTables {
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* sysv_hash = nullptr;
  const std::uint16_t* versions = nullptr;
  std::uint64_t string_bytes = 0;
};

DynamicTables dynamic_tables(const LoadedModule& module) {
  DynamicTables tables;
  for (const Elf64_Dyn* entry = module.dynamic; entry != nullptr && entry->d_tag != DT_NULL;
       ++entry) {
    // glibc has added the bias already, except in the vDSO and on musl.
    const std::uint64_t pointer =
        entry->d_un.d_ptr < module.base ? entry->d_un.d_ptr + module.bias : entry->d_un.d_ptr;
    switch (entry->d_tag) {
    case DT_SYMTAB:
      tables.symbols = at_address<Elf64_Sym>(pointer);
      break;
    case DT_STRTAB:
      tables.strings = at_address<char>(pointer);
      break;
    case DT_GNU_HASH:
      tables.gnu_hash = at_address<std::uint32_t>(pointer);
      break;
    case DT_HASH:
      tables.sysv_hash = at_address<std::uint32_t>(pointer);
      break;
    case DT_VERSYM:
      tables.versions = at_address<std::uint16_t>(pointer);
      break;
    case DT_STRSZ:
      tables.string_bytes = entry->d_un.d_val;
      break;
    default:
      break;
    }
  }
  return tables;
}

void* definition(const LoadedModule& module, const DynamicTables& tables, std::uint32_t index,
                 const char* name) {
  const Elf64_Sym& symbol = tables.symbols[index];
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  const bool usable = type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE;
  if (symbol.st_shndx == SHN_UNDEF || !usable || !equal(tables.strings + symbol.st_name, name)) {
    return nullptr;
  }
  return reinterpret_cast<void*>(module.bias + symbol.st_value);
}

// GNU hash tables: https://flapenguin.me/elf-dt-gnu-hash and glibc's elf/dl-lookup.c.
void* find_by_gnu_hash(const LoadedModule& module, const DynamicTables& tables, const char* name) {
  std::uint32_t hash = 5381;
  for (const char* c = name; *c != 0; ++c) {
    hash = hash * 33 + static_cast<unsigned char>(*c);
  }
  const std::uint32_t buckets = tables.gnu_hash[0];
  const std::uint32_t first = tables.gnu_hash[1];
  const std::uint32_t bloom_words = tables.gnu_hash[2];
  const std::uint32_t* bucket = tables.gnu_hash + 4 + std::size_t{2} * bloom_words;
  const std::uint32_t* chain = bucket + buckets;
  if (buckets == 0) {
    return nullptr;
  }
  std::uint32_t index = bucket[hash % buckets];
  if (index < first) {
    return nullptr;
  }
  for (;; ++index) {
    const std::uint32_t entry = chain[index - first];
    if ((entry | 1) == (hash | 1)) {
      if (void* found = definition(module, tables, index, name); found != nullptr) {
        return found;
      }
    }
    if ((entry & 1) != 0) {
      return nullptr;
    }
  }
}

void* find_by_sysv_hash(const LoadedModule& module, const DynamicTables& tables, const char* name) {
  const std::uint32_t symbols = tables.sysv_hash[1];
  for (std::uint32_t index = 1; index < symbols; ++index) {
    if (void* found = definition(module, tables, index, name); found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

std::uint64_t as_number(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// How many symbols a GNU hash table covers: to the end of its last chain. The table does not cover
// the symbols before its first, which are undefined.
std::uint64_t count_by_gnu_hash(const LoadedModule& module, const DynamicTables& tables) {
  const std::uint64_t table = as_number(tables.gnu_hash);
  std::uint32_t head[3] = {}; // buckets, first symbol, words of the filter
  if (!arch::copy(head, table, sizeof head)) {
    return 0;
  }
  const std::uint64_t buckets = table + 16 + std::uint64_t{head[2]} * 8;
  const std::uint64_t chains = buckets + std::uint64_t{head[0]} * 4;
  if (chains < table || chains >= module.end) {
    return 0;
  }
  std::uint32_t last = 0;
  for (std::uint64_t at = buckets; at < chains; at += 4) {
    std::uint32_t index = 0;
    if (!arch::load(at, &index)) {
      return 0;
    }
    last = index > last ? index : last;
  }
  if (last < head[1]) {
    return 0;
  }
  for (std::uint64_t at = chains + std::uint64_t{last - head[1]} * 4; at < module.end; at += 4) {
    std::uint32_t entry = 0;
    if (!arch::load(at, &entry)) {
      return 0;
    }
    if (++last; (entry & 1) != 0) {
      return last;
    }
  }
  return 0;
}

bool lies_within(const LoadedModule& module, std::uint64_t begin, std::uint64_t bytes) {
  return begin >= module.base && begin <= module.end && bytes <= module.end - begin;
}

struct Search {
  const char* prefix;
  const char* name;
  void* found;
};

bool search_module(const LoadedModule& module, void* context) {
  auto* search = static_cast<Search*>(context);
  if (search->prefix != nullptr && !starts_with(file_name(module.path), search->prefix)) {
    return true;
  }
  search->found = find_symbol(module, search->name);
  return search->found == nullptr;
}

} // namespace

bool is_data(const LoadedModule& module, std::uint64_t address) {
  return address >= module.data_begin && address < module.data_end &&
         (address < module.sealed_begin || address >= module.sealed_end);
}

bool is_nameless_vdso(const LoadedModule& module) {
  bool interpreted = false;
  for (std::uint32_t i = 0; i < module.header_count; ++i) {
    interpreted = interpreted || module.headers[i].p_type == PT_INTERP;
  }
  return module.path[0] == '\0' && !interpreted;
}

std::size_t read_build_id(const LoadedModule& module, std::uint8_t* to, std::size_t bytes) {
  std::size_t length = 0;
  for (std::uint32_t i = 0; i < module.header_count && length == 0; ++i) {
    const Elf64_Phdr& header = module.headers[i];
    const std::uint64_t begin = module.bias + header.p_vaddr;
    if (header.p_type == PT_NOTE && begin + header.p_memsz > begin) {
      length = find_build_id(begin, begin + header.p_memsz, to, bytes);
    }
  }
  return length;
}

void visit_modules(bool (*visit)(const LoadedModule& module, void* context), void* context) {
  Visit argument{visit, context};
  dl_iterate_phdr(on_module, &argument);
}

DynamicSymbols dynamic_symbols(const LoadedModule& module) {
  const DynamicTables tables = dynamic_tables(module);
  DynamicSymbols found{.symbols = as_number(tables.symbols),
                       .strings = as_number(tables.strings),
                       .string_bytes = tables.string_bytes};
  std::uint32_t chains = 0;
  if (tables.gnu_hash != nullptr) {
    found.count = count_by_gnu_hash(module, tables);
  } else if (tables.sysv_hash != nullptr && arch::load(as_number(tables.sysv_hash + 1), &chains)) {
    found.count = chains; // one for each symbol
  }
  const bool sane = found.count != 0 &&
                    lies_within(module, found.symbols, found.count * sizeof(Elf64_Sym)) &&
                    lies_within(module, found.strings, found.string_bytes);
  return sane ? found : DynamicSymbols{};
}

void* find_symbol(const LoadedModule& module, const char* name) {
  const DynamicTables tables = dynamic_tables(module);
  if (tables.symbols == nullptr || tables.strings == nullptr) {
    return nullptr;
  }
  if (tables.gnu_hash != nullptr) {
    return find_by_gnu_hash(module, tables, name);
  }
  return tables.sysv_hash != nullptr ? find_by_sysv_hash(module, tables, name) : nullptr;
}

void* find_symbol_anywhere(const char* name) {
  Search search{nullptr, name, nullptr};
  visit_modules(search_module, &search);
  return search.found;
}

void* find_symbol_in(const char* prefix, const char* name) {
  Search search{prefix, name, nullptr};
  visit_modules(search_module, &search);
  return search.found;
}

std::uint64_t module_changes() {
  std::uint64_t changes = 0;
  visit_modules(
      [](const LoadedModule& module, void* context) {
        *static_cast<std::uint64_t*>(context) = module.loads + module.unloads;
        return false;
      },
      &changes);
  return changes;
}

const char* file_name(const char* path) {
  const char* name = path;
  for (const char* c = path; *c != 0; ++c) {
    if (*c == '/') {
      name = c + 1;
    }
  }
  return name;
}

bool starts_with(const char* text, const char* prefix) {
  for (; *prefix != 0; ++text, ++prefix) {
    if (*text != *prefix) {
      return false;
    }
  }
  return true;
}

bool equal(const char* left, const char* right) {
  for (; *left == *right; ++left, ++right) {
    if (*left == 0) {
      return true;
    }
  }
  return false;
}

} // namespace jprof::agent::os
