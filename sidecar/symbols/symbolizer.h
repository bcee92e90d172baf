// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/wire/region.h"
#include "sidecar/symbols/module_image.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace jprof::elf {
class ElfFile;
}

namespace jprof::symbols {

// A module of the JVM as the agent described it: every word of it is foreign.
struct Module {
  std::uint64_t base = 0;
  std::uint64_t end = 0;
  std::uint64_t bias = 0; // address = link-time address + bias
  std::uint64_t loaded_ns = 0;
  std::uint64_t unloaded_ns = 0; // 0: still there
  std::string path;              // as the JVM's mount namespace names it
  std::string build_id;          // raw bytes, may be empty
};

// Opens a regular file of the JVM, safely, by the path that the JVM uses for it.
using FileOpener = std::function<base::Result<base::UniqueFd>(const std::string& path)>;

struct AddressName {
  std::string function;   // "JavaThread::run", or "libjvm.so+0x8a1b20" if nothing names it
  std::string parameters; // that were cut off: "(int) const"
  std::string module;     // path; empty for an address in no module
  bool belongs_to_vm = false;
};

// How many modules may be supplied from the JVM's memory, in one session.
inline constexpr std::size_t kMaxSupplied = 32;

// Names native addresses from the files they were loaded from: .symtab, .dynsym, a separate debug
// file by build-id; otherwise the start of the function by .eh_frame_hdr. Files are read when a
// module is first needed, so that a JVM that ends later keeps its names, and are used only if their
// build-id is the one in memory. One thread at a time.
class Symbolizer {
 public:
  explicit Symbolizer(FileOpener opener);
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // Takes the present table; true if it differs from the last one.
  bool set_modules(const std::vector<wire::ModuleSlot>& slots);
  AddressName name(std::uint64_t address, std::uint64_t when_ns);

  // Modules of the current table whose files cannot be used, each reported once: the names of their
  // functions can be obtained from the JVM's memory. At most kMaxSupplied in all.
  std::vector<Module> missing();
  // What was obtained. Names of addresses that were asked for before may differ from now on.
  void supply(const Module& module, const ModulePieces& pieces);

  // One sentence for each module whose file could not be used.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Loaded;

  // A module that was at one place at one time.
  struct Place {
    std::uint64_t base;
    std::uint64_t loaded_ns;
    friend bool operator==(const Place&, const Place&) = default;
  };

  const Module* find(std::uint64_t address, std::uint64_t when_ns) const;
  Loaded& load(const Module& module);
  base::Result<elf::ElfFile> open_module(const Module& module) const;
  std::unique_ptr<Loaded> open_files(const Module& module);
  void note(const std::string& text);

  FileOpener opener_;
  std::vector<Module> modules_;
  std::vector<std::pair<std::string, std::unique_ptr<Loaded>>> loaded_; // key: path and build-id
  std::vector<Place> looked_at_;                                        // by missing()
  std::vector<std::pair<Place, std::unique_ptr<Loaded>>> supplied_;
  std::size_t told_missing_ = 0;
  std::vector<std::string> notes_;
};

} // namespace jprof::symbols
