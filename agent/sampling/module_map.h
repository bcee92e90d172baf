// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The executable ranges of the loaded modules, sorted, for signal handlers. Built by the agent's
// thread (recording/module_table.cpp) and replaced as a whole.

#include "agent/sampling/frame_rule.h"

#include <cstddef>
#include <cstdint>

namespace jprof::agent::sampling {

struct CodeModule {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t eh_frame_header = 0; // 0: none
};

inline constexpr std::size_t kMaxModules = 512;

struct ModuleMap {
  std::uint32_t count = 0;
  CodeModule modules[kMaxModules];
  mutable FrameRuleCache rules; // of instructions in these modules; handlers fill it

  const CodeModule* find(std::uint64_t pc) const {
    std::uint32_t low = 0;
    std::uint32_t high = count < kMaxModules ? count : kMaxModules;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (modules[middle].end <= pc) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < count && low < kMaxModules && modules[low].begin <= pc ? &modules[low] : nullptr;
  }
};

} // namespace jprof::agent::sampling
