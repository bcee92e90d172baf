// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tracks the process's modules for the reader (the region's module table) and for signal handlers
// (ModuleMap). Agent's thread only.

#include "agent/recording/region_layout.h"
#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::recording {

class ModuleTable {
 public:
  void begin(sampling::Sampler* sampler, const PrivateTables& tables);
  // Reads the loader's list again if it has changed, or if a handler has asked for it.
  void refresh(std::uint64_t now_ns);

 private:
  void collect(std::uint64_t now_ns);

  sampling::Sampler* sampler_ = nullptr;
  PrivateTables tables_;
  std::uint32_t used_ = 0;
  std::uint64_t changes_ = 0;
  bool unpublished_ = false;
};

} // namespace jprof::agent::recording
