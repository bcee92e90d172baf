// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/inlining_detail.h"

#include "agent/jvm/struct_tables.h"
#include "agent/jvm/vm_flags.h"
#include "agent/os/modules.h"
#include "agent/sampling/shared_memory.h"

namespace jprof::agent::jvm {
namespace {

// If we misread a table, that must not make us write anywhere else.
bool is_data_of_libjvm(const std::uint8_t* flag) {
  struct Search {
    std::uint64_t address;
    bool found;
  } search{reinterpret_cast<std::uint64_t>(flag), false};
  os::visit_modules(
      [](const os::LoadedModule& module, void* context) {
        auto* wanted = static_cast<Search*>(context);
        if (!os::starts_with(os::file_name(module.path), "libjvm.so")) {
          return true;
        }
        wanted->found = os::is_data(module, wanted->address);
        return false;
      },
      &search);
  return search.found;
}

} // namespace

InliningDetail::Found InliningDetail::turn_on() {
  StructTables tables;
  if (flag_ != nullptr || !tables.open()) {
    return Found::kNothing;
  }
  std::uint8_t* flag = VmFlags(tables).find("DebugNonSafepoints");
  if (flag == nullptr || !is_data_of_libjvm(flag)) {
    return Found::kNothing;
  }
  if (sampling::load_relaxed(*flag) != 0) {
    return Found::kOn;
  }
  sampling::store_relaxed(*flag, std::uint8_t{1});
  flag_ = flag;
  return Found::kOff;
}

void InliningDetail::restore() {
  if (flag_ != nullptr) {
    sampling::store_relaxed(*flag_, std::uint8_t{0});
    flag_ = nullptr;
  }
}

} // namespace jprof::agent::jvm
