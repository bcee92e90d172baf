// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Look-ups in libjvm's exported tables. Not signal-safe.

#include "agent/sampling/vm_layout.h"

#include <cstdint>

namespace jprof::agent::jvm {

// One table: an array of records; libjvm also exports their size and field offsets.
struct Table {
  std::uint64_t begin = 0;
  std::uint64_t stride = 0;
  std::uint64_t name = 0; // offsets within a record
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  std::uint64_t fourth = 0;
  std::uint64_t fifth = 0;
};

class StructTables {
 public:
  // False if this process has no libjvm with tables.
  bool open();

  // Offset of an instance field; -1 if there is none.
  std::int32_t offset(const char* type, const char* field) const;
  // The same with the width that its declared type has.
  sampling::IntField int_field(const char* type, const char* field) const;
  // The type that a field is declared with; null if there is no such field.
  const char* declared_type(const char* type, const char* field) const;
  // Address of a static field; 0 if there is none.
  std::uint64_t static_address(const char* type, const char* field) const;
  // The lowest address of a type's static fields: if the tables list some elements of an array, the
  // first of these. 0 if there is none.
  std::uint64_t lowest_static(const char* type) const;
  // Size of a type; 0 if it is not listed.
  std::uint64_t type_size(const char* type) const;
  bool int_constant(const char* name, std::int32_t* value) const;

 private:
  std::uint64_t find_field(const char* type, const char* field) const;

  Table fields_;
  Table types_;
  Table constants_;
};

} // namespace jprof::agent::jvm
