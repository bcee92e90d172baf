// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How this JVM lays out its heap, according to its tables and flags. The agent's thread only, with
// the session's fault handler installed.

#include "agent/jvm/struct_tables.h"
#include "agent/jvm/vm_flags.h"
#include "agent/sampling/heap_references.h"

#include <cstdint>

namespace jprof::agent::jvm {

sampling::HeapReferences read_references(const StructTables& tables, const VmFlags& flags,
                                         std::uint32_t java_feature);

// False if this JVM does not say when it collects garbage.
bool read_heap_clock(const StructTables& tables, sampling::HeapClock* clock);

// Where objects name their class.
class ClassWords {
 public:
  // False if this JVM does not describe it.
  bool open(const StructTables& tables, const VmFlags& flags);
  // The object's InstanceKlass, 0 if it cannot be read.
  std::uint64_t class_of(std::uint64_t object) const;

 private:
  std::int32_t offset_ = -1;
  std::uint32_t shift_in_word_ = 0; // compact headers keep it in the mark
  bool narrow_ = false;
  std::uint64_t base_ = 0;
  std::uint32_t shift_ = 0;
};

} // namespace jprof::agent::jvm
