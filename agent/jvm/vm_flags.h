// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The JVM's own flags (-XX:...), read in place from its flag table: struct Flag in 8, JVMFlag
// later. Agent's thread only.

#include "agent/jvm/struct_tables.h"

#include <cstdint>

namespace jprof::agent::jvm {

class VmFlags {
 public:
  explicit VmFlags(const StructTables& tables);
  // The address of a flag's value; null if this JVM does not have the flag. `name` must name a
  // bool.
  std::uint8_t* find(const char* name) const;
  // False for a flag that this JVM does not have.
  bool is_on(const char* name) const;

 private:
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t stride_ = 0;
  std::uint64_t name_ = 0; // offsets within a flag
  std::uint64_t address_ = 0;
};

} // namespace jprof::agent::jvm
