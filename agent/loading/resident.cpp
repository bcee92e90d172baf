// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/loading/resident.h"

#include "agent/loading/entry.h"
#include "agent/os/modules.h"

#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) jprof::agent::Resident jprof_agent_resident_v1;
jprof::agent::Resident jprof_agent_resident_v1 = {1, 0, jprof::agent::begin_for_other_copy};

namespace jprof::agent {
namespace {

constexpr char kSymbol[] = "jprof_agent_resident_v1";

struct OwnModule {
  const char* path;
};

bool find_own_path(const os::LoadedModule& module, void* context) {
  const auto at = reinterpret_cast<std::uint64_t>(&jprof_agent_resident_v1);
  if (at >= module.base && at < module.end) {
    static_cast<OwnModule*>(context)->path = module.path;
    return false;
  }
  return true;
}

bool find_resident(const os::LoadedModule& module, void* context) {
  const auto* candidate = static_cast<const Resident*>(os::find_symbol(module, kSymbol));
  if (candidate != nullptr && candidate != &jprof_agent_resident_v1 && candidate->abi == 1 &&
      candidate->resident == 1) {
    *static_cast<const Resident**>(context) = candidate;
    return false;
  }
  return true;
}

} // namespace

const Resident* find_other_resident() {
  const Resident* found = nullptr;
  os::visit_modules(find_resident, &found);
  return found;
}

bool become_resident() {
  using Open = void* (*)(const char*, int);
  const auto open = reinterpret_cast<Open>(os::find_symbol_anywhere("dlopen"));
  OwnModule own{nullptr};
  os::visit_modules(find_own_path, &own);
  if (open == nullptr || own.path == nullptr) {
    return false;
  }
  // musl never unloads; glibc finds the library by its name, even if the file is gone by now.
  if (open(own.path, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) == nullptr) {
    return false;
  }
  jprof_agent_resident_v1.resident = 1;
  return true;
}

bool is_resident() {
  return jprof_agent_resident_v1.resident == 1;
}

} // namespace jprof::agent
