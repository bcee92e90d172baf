// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/recording/module_table.h"

#include "agent/os/modules.h"
#include "agent/os/system.h"
#include "agent/sampling/shared_memory.h"

namespace jprof::agent::recording {
namespace {

using os::LoadedModule;
using sampling::store_release;

std::size_t length_of(const char* text) {
  std::size_t length = 0;
  while (text[length] != 0) {
    ++length;
  }
  return length;
}

void write_path(const LoadedModule& module, wire::ModuleSlot& slot) {
  char program[wire::kModulePathBytes * 2];
  // glibc's name for it, by which symbols are looked up.
  const char* path = os::is_nameless_vdso(module) ? "linux-vdso.so.1" : module.path;
  std::size_t length = length_of(path);
  if (length == 0) { // the main program
    const long got = os::read_link("/proc/self/exe", program, sizeof program);
    length = got > 0 ? static_cast<std::size_t>(got) : 0;
    path = program;
  }
  const std::size_t cut = length > sizeof slot.path ? length - sizeof slot.path : 0;
  os::copy_bytes(slot.path, path + cut, length - cut);
  slot.path_bytes = static_cast<std::uint32_t>(length - cut);
}

// State of one pass over the loader's list.
struct Pass {
  wire::ModuleSlot* slots = nullptr;
  std::uint32_t capacity = 0;
  std::uint32_t* used = nullptr;
  std::uint64_t now_ns = 0;
  bool present[sampling::kMaxModules] = {};
  sampling::ModuleMap* map = nullptr;
};

void fill(wire::ModuleSlot& slot, const LoadedModule& module, std::uint64_t now_ns) {
  store_release(slot.seq, slot.seq + 1);
  slot.base = module.base;
  slot.end = module.end;
  slot.bias = module.bias;
  slot.loaded_ns = now_ns;
  slot.unloaded_ns = 0;
  slot.build_id_bytes =
      static_cast<std::uint32_t>(os::read_build_id(module, slot.build_id, sizeof slot.build_id));
  write_path(module, slot);
  store_release(slot.seq, slot.seq + 1);
}

void add_sorted(sampling::ModuleMap& map, const LoadedModule& module) {
  if (module.code_end == 0 || map.count == sampling::kMaxModules) {
    return;
  }
  std::uint32_t at = map.count++;
  for (; at > 0 && map.modules[at - 1].begin > module.code_begin; --at) {
    map.modules[at] = map.modules[at - 1];
  }
  map.modules[at] =
      sampling::CodeModule{module.code_begin, module.code_end, module.eh_frame_header};
}

bool on_module(const LoadedModule& module, void* context) {
  auto& pass = *static_cast<Pass*>(context);
  add_sorted(*pass.map, module);
  for (std::uint32_t i = 0; i < *pass.used; ++i) {
    const wire::ModuleSlot& slot = pass.slots[i];
    if (slot.unloaded_ns == 0 && slot.base == module.base && slot.end == module.end) {
      pass.present[i] = true;
      return true;
    }
  }
  if (*pass.used < pass.capacity) {
    const std::uint32_t i = (*pass.used)++;
    fill(pass.slots[i], module, pass.now_ns);
    pass.present[i] = true;
  }
  return true;
}

} // namespace

void ModuleTable::begin(sampling::Sampler* sampler, const PrivateTables& tables) {
  *this = ModuleTable{};
  sampler_ = sampler;
  tables_ = tables;
}

void ModuleTable::refresh(std::uint64_t now_ns) {
  const bool wanted = sampler_->modules_wanted.exchange(0) != 0;
  const std::uint64_t changes = os::module_changes();
  if (!wanted && changes == changes_ && !unpublished_) {
    return;
  }
  changes_ = changes;
  collect(now_ns);
}

void ModuleTable::collect(std::uint64_t now_ns) {
  const std::uint32_t spare = 1 - sampler_->module_gate.active();
  if (!sampler_->module_gate.idle(spare)) {
    unpublished_ = true; // a handler is still reading the older copy: next time
    return;
  }
  unpublished_ = false;
  sampler_->modules[spare].count = 0;
  sampler_->modules[spare].rules.clear(); // another module may be there now
  Pass pass;
  pass.slots = tables_.module_slots;
  pass.capacity = tables_.module_capacity;
  pass.used = &used_;
  pass.now_ns = now_ns;
  pass.map = &sampler_->modules[spare];
  os::visit_modules(on_module, &pass);
  for (std::uint32_t i = 0; i < used_; ++i) {
    wire::ModuleSlot& slot = tables_.module_slots[i];
    if (!pass.present[i] && slot.unloaded_ns == 0) {
      store_release(slot.seq, slot.seq + 1);
      slot.unloaded_ns = now_ns;
      store_release(slot.seq, slot.seq + 1);
    }
  }
  sampler_->module_gate.switch_to(spare);
}

} // namespace jprof::agent::recording
