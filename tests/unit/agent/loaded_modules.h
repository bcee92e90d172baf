// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/os/modules.h"
#include "agent/sampling/module_map.h"

#include <memory>

namespace jprof::agent::sampling {

// Those of this process.
inline std::unique_ptr<ModuleMap> loaded_modules() {
  auto map = std::make_unique<ModuleMap>();
  os::visit_modules(
      [](const os::LoadedModule& module, void* context) {
        auto* modules = static_cast<ModuleMap*>(context);
        std::uint32_t at = modules->count++;
        for (; at > 0 && modules->modules[at - 1].begin > module.code_begin; --at) {
          modules->modules[at] = modules->modules[at - 1];
        }
        modules->modules[at] = {module.code_begin, module.code_end, module.eh_frame_header};
        return true;
      },
      map.get());
  return map;
}

} // namespace jprof::agent::sampling
