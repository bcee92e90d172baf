// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/symbols/symbolizer.h"

#include "lib/base/encoding.h"
#include "lib/elf/elf_file.h"
#include "lib/elf/symbol_table.h"
#include "sidecar/symbols/demangle.h"
#include "sidecar/symbols/vdso.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

namespace jprof::symbols {
namespace {

// A hostile JVM may name any number of files of any size; a sane one has a few dozen modules and a
// few hundred thousand functions.
constexpr std::size_t kMaxFiles = 256;
constexpr std::size_t kMaxEntries = 3U << 20;
constexpr std::size_t kMaxNotes = 64;
constexpr std::size_t kMaxLookedAt = 1024;

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

bool is_vdso(const Module& module) {
  return module.path.find('/') == std::string::npos &&
         module.path.find("vdso") != std::string::npos;
}

bool is_vm(const Module& module) {
  const std::string_view name = file_name(module.path);
  return name == "libjvm.so" || name == "libj9vm29.so";
}

std::string hex(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

bool same(const Module& a, const Module& b) {
  return a.base == b.base && a.end == b.end && a.bias == b.bias && a.path == b.path &&
         a.build_id == b.build_id && a.unloaded_ns == b.unloaded_ns;
}

} // namespace

struct Symbolizer::Loaded {
  std::optional<elf::ElfFile> file;
  std::optional<elf::ElfFile> debug_file;
  std::optional<elf::SymbolTable> symbols;
  std::optional<elf::FunctionStarts> starts;

  std::size_t entries() const {
    return (symbols ? symbols->size() : 0) + (starts ? starts->size() : 0);
  }
};

Symbolizer::Symbolizer(FileOpener opener) : opener_(std::move(opener)) {}
Symbolizer::~Symbolizer() = default;

bool Symbolizer::set_modules(const std::vector<wire::ModuleSlot>& slots) {
  std::vector<Module> modules;
  modules.reserve(slots.size());
  for (const wire::ModuleSlot& slot : slots) {
    modules.push_back(
        {slot.base, slot.end, slot.bias, slot.loaded_ns, slot.unloaded_ns,
         std::string(slot.path, slot.path_bytes),
         std::string(reinterpret_cast<const char*>(slot.build_id), slot.build_id_bytes)});
  }
  if (std::ranges::equal(modules, modules_, same)) {
    return false;
  }
  modules_ = std::move(modules);
  return true;
}

const Module* Symbolizer::find(std::uint64_t address, std::uint64_t when_ns) const {
  const Module* best = nullptr;
  for (const Module& module : modules_) {
    const bool holds = address >= module.base && address < module.end;
    const bool there =
        module.loaded_ns <= when_ns && (module.unloaded_ns == 0 || when_ns <= module.unloaded_ns);
    // If there are several at one address, the one that was there at that time. A module that the
    // agent had not yet seen when it was sampled is better than none.
    if (holds && (best == nullptr || there)) {
      best = &module;
    }
  }
  return best;
}

void Symbolizer::note(const std::string& text) {
  if (notes_.size() < kMaxNotes) {
    notes_.push_back(text);
  }
}

Symbolizer::Loaded& Symbolizer::load(const Module& module) {
  const std::string key = module.path + '\0' + module.build_id;
  for (auto& [name, loaded] : loaded_) {
    if (name == key) {
      return *loaded;
    }
  }
  std::size_t entries = 0;
  for (const auto& [name, loaded] : loaded_) {
    entries += loaded->entries();
  }
  if (loaded_.size() >= kMaxFiles || entries >= kMaxEntries) {
    static Loaded none; // never written to
    return none;
  }
  loaded_.emplace_back(key, open_files(module));
  return *loaded_.back().second;
}

// The file from which a module was loaded, if it is still the same one.
base::Result<elf::ElfFile> Symbolizer::open_module(const Module& module) const {
  std::unique_ptr<elf::ByteSource> source = is_vdso(module) ? copy_vdso() : nullptr;
  if (!source) {
    JPROF_TRY_ASSIGN(base::UniqueFd fd, opener_(module.path));
    source = elf::make_file_source(std::move(fd));
  }
  JPROF_TRY_ASSIGN(elf::ElfFile file, elf::ElfFile::open(std::move(source)));
  if (!module.build_id.empty() && file.build_id() != module.build_id) {
    return base::make_failure(base::ErrorCode::kInvalidData,
                              "the file is not the one in memory (build-id)");
  }
  return file;
}

std::unique_ptr<Symbolizer::Loaded> Symbolizer::open_files(const Module& module) {
  auto loaded = std::make_unique<Loaded>();
  base::Result<elf::ElfFile> file = open_module(module);
  if (!file) {
    note("no symbols of " + module.path + ": " + file.error().message);
    return loaded;
  }
  loaded->file.emplace(std::move(*file));
  loaded->symbols.emplace(elf::SymbolTable::load(*loaded->file));
  loaded->starts.emplace(elf::FunctionStarts::load(*loaded->file));
  const bool stripped = std::ranges::none_of(loaded->file->sections(), [](const elf::Part& part) {
    return part.type == 2; // SHT_SYMTAB
  });
  if (const std::string& id = loaded->file->build_id(); stripped && id.size() >= 2) {
    // The place that GDB's documentation names for separate debug files.
    const std::string digits = base::hex(id);
    base::Result<base::UniqueFd> fd = opener_("/usr/lib/debug/.build-id/" + digits.substr(0, 2) +
                                              '/' + digits.substr(2) + ".debug");
    base::Result<elf::ElfFile> debug =
        fd ? elf::ElfFile::open(elf::make_file_source(std::move(*fd))) : base::fail(fd.error());
    if (debug && debug->build_id() == id) {
      loaded->debug_file.emplace(std::move(*debug));
      loaded->symbols.emplace(elf::SymbolTable::load(*loaded->debug_file));
    }
  }
  return loaded;
}

std::vector<Module> Symbolizer::missing() {
  std::vector<Module> missing;
  for (const Module& module : modules_) {
    const Place place{module.base, module.loaded_ns};
    if (module.unloaded_ns != 0 || std::ranges::find(looked_at_, place) != looked_at_.end() ||
        looked_at_.size() >= kMaxLookedAt || told_missing_ >= kMaxSupplied) {
      continue;
    }
    looked_at_.push_back(place);
    // The agent's own file is unlinked once it is loaded, and has no names to offer.
    if (!file_name(module.path).starts_with(".jprof-") && !open_module(module)) {
      ++told_missing_;
      missing.push_back(module);
    }
  }
  return missing;
}

void Symbolizer::supply(const Module& module, const ModulePieces& pieces) {
  base::Result<elf::ElfFile> image = elf::ElfFile::open(make_image(pieces));
  if (!image || supplied_.size() >= kMaxSupplied) {
    return;
  }
  auto loaded = std::make_unique<Loaded>();
  loaded->file.emplace(std::move(*image));
  loaded->symbols.emplace(elf::SymbolTable::load(*loaded->file));
  loaded->starts.emplace(elf::FunctionStarts::load(*loaded->file));
  if (loaded->entries() == 0) {
    return; // the note that its file cannot be used says all there is
  }
  const base::Result<elf::ElfFile> file = open_module(module);
  note("names of " + module.path +
       " are from the JVM's memory, where only exported functions have "
       "one: " +
       (file ? "the file cannot be used" : file.error().message));
  supplied_.emplace_back(Place{module.base, module.loaded_ns}, std::move(loaded));
}

AddressName Symbolizer::name(std::uint64_t address, std::uint64_t when_ns) {
  const Module* module = find(address, when_ns);
  if (module == nullptr) {
    return {"[unknown]", {}, {}, false};
  }
  AddressName out{{}, {}, module->path, is_vm(*module)};
  const std::uint64_t linked = address - module->bias;
  const auto supplied = std::ranges::find(supplied_, Place{module->base, module->loaded_ns},
                                          &std::pair<Place, std::unique_ptr<Loaded>>::first);
  const Loaded& loaded = supplied != supplied_.end() ? *supplied->second : load(*module);
  if (loaded.symbols) {
    if (const auto symbol = loaded.symbols->find(linked)) {
      FunctionName function = demangle(symbol->name);
      out.function = std::move(function.name);
      out.parameters = std::move(function.parameters);
      return out;
    }
  }
  // Even without a name, the start of the function at least keeps its samples together.
  const std::optional<std::uint64_t> start =
      loaded.starts ? loaded.starts->find(linked) : std::nullopt;
  const std::string_view file = file_name(module->path);
  out.function = (file.empty() ? std::string("[program]") : std::string(file)) + '+' +
                 hex(start.value_or(linked));
  return out;
}

} // namespace jprof::symbols
