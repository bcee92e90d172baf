// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the fields of a Java class are in its objects, as its InstanceKlass describes them: tuples
// of six u2 (8 to 20, oops/fieldInfo.hpp) or a stream of UNSIGNED5 numbers (21+, oops/fieldInfo.hpp
// and fieldStreams.hpp). The agent's thread only, with the session's fault handler installed.

#include "agent/jvm/struct_tables.h"
#include "agent/sampling/vm_layout.h"

#include <cstdint>

namespace jprof::agent::jvm {

// Whether there is a Symbol with this `text` at this address.
bool holds_symbol(const sampling::VmLayout& vm, std::uint64_t symbol, const char* text);

class ClassFields {
 public:
  // False if this JVM does not say how it describes fields.
  bool open(const StructTables& tables, const sampling::VmLayout& vm);

  // Offset of an instance field of this name and descriptor in the objects of the class; -1 if it
  // has none. `klass` is the address of an InstanceKlass.
  std::int32_t offset_of(std::uint64_t klass, const char* name, const char* descriptor) const;

 private:
  std::int32_t in_tuples(std::uint64_t klass, std::uint64_t pool, const char* name,
                         const char* descriptor) const;
  std::int32_t in_stream(std::uint64_t klass, std::uint64_t pool, const char* name,
                         const char* descriptor) const;
  bool is_symbol(std::uint64_t pool, std::uint32_t index, const char* text) const;

  const sampling::VmLayout* vm_ = nullptr;
  std::int32_t constants_ = -1;
  std::int32_t fields_ = -1;       // Array<u2>*, 8 to 20
  std::int32_t fields_count_ = -1; // u2
  std::int32_t stream_ = -1;       // Array<u1>*, 21+
  std::uint64_t array_length_ = 0;
  std::uint64_t array_data_ = 4;
};

} // namespace jprof::agent::jvm
