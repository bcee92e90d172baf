// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/struct_tables.h"

#include "agent/os/modules.h"

namespace jprof::agent::jvm {
namespace {

template <typename T>
T value_at(std::uint64_t address) {
  return *reinterpret_cast<const T*>(address);
}

// libjvm.so exports each of these as a variable of eight bytes.
bool exported(const char* name, std::uint64_t* value) {
  const void* address = os::find_symbol_in("libjvm.so", name);
  if (address == nullptr) {
    return false;
  }
  *value = *static_cast<const std::uint64_t*>(address);
  return true;
}

struct Width {
  const char* type;
  std::uint8_t bytes;
  bool is_signed;
};
// How vmStructs spells the integer types whose width differs between releases.
constexpr Width kWidths[] = {
    {"int16_t", 2, true}, {"u2", 2, false}, {"unsigned short", 2, false}, {"jushort", 2, false},
    {"short", 2, true},   {"u1", 1, false}, {"bool", 1, false},           {"signed char", 1, true}};

} // namespace

bool StructTables::open() {
  return exported("gHotSpotVMStructs", &fields_.begin) &&
         exported("gHotSpotVMStructEntryArrayStride", &fields_.stride) &&
         exported("gHotSpotVMStructEntryTypeNameOffset", &fields_.name) &&
         exported("gHotSpotVMStructEntryFieldNameOffset", &fields_.second) &&
         exported("gHotSpotVMStructEntryTypeStringOffset", &fields_.third) &&
         exported("gHotSpotVMStructEntryOffsetOffset", &fields_.fourth) &&
         exported("gHotSpotVMStructEntryAddressOffset", &fields_.fifth) &&
         exported("gHotSpotVMTypes", &types_.begin) &&
         exported("gHotSpotVMTypeEntryArrayStride", &types_.stride) &&
         exported("gHotSpotVMTypeEntryTypeNameOffset", &types_.name) &&
         exported("gHotSpotVMTypeEntrySizeOffset", &types_.second) &&
         exported("gHotSpotVMIntConstants", &constants_.begin) &&
         exported("gHotSpotVMIntConstantEntryArrayStride", &constants_.stride) &&
         exported("gHotSpotVMIntConstantEntryNameOffset", &constants_.name) &&
         exported("gHotSpotVMIntConstantEntryValueOffset", &constants_.second);
}

std::uint64_t StructTables::find_field(const char* type, const char* field) const {
  for (std::uint64_t at = fields_.begin;; at += fields_.stride) {
    const auto* type_name = value_at<const char*>(at + fields_.name);
    if (type_name == nullptr) {
      return 0;
    }
    const auto* field_name = value_at<const char*>(at + fields_.second);
    if (field_name != nullptr && os::equal(type_name, type) && os::equal(field_name, field)) {
      return at;
    }
  }
}

std::int32_t StructTables::offset(const char* type, const char* field) const {
  const std::uint64_t at = find_field(type, field);
  return at == 0 ? -1 : static_cast<std::int32_t>(value_at<std::uint64_t>(at + fields_.fourth));
}

sampling::IntField StructTables::int_field(const char* type, const char* field) const {
  sampling::IntField result;
  const std::uint64_t at = find_field(type, field);
  if (at == 0) {
    return result;
  }
  result.offset = static_cast<std::int32_t>(value_at<std::uint64_t>(at + fields_.fourth));
  const auto* declared = value_at<const char*>(at + fields_.third);
  if (declared == nullptr) {
    return result;
  }
  for (const Width& width : kWidths) {
    if (os::equal(declared, width.type)) {
      result.bytes = width.bytes;
      result.is_signed = width.is_signed;
      return result;
    }
  }
  // An enumeration: its size is listed if it is not that of an int.
  if (type_size(declared) == 1) {
    result.bytes = 1;
  }
  return result;
}

const char* StructTables::declared_type(const char* type, const char* field) const {
  const std::uint64_t at = find_field(type, field);
  return at == 0 ? nullptr : value_at<const char*>(at + fields_.third);
}

std::uint64_t StructTables::static_address(const char* type, const char* field) const {
  const std::uint64_t at = find_field(type, field);
  return at == 0 ? 0 : value_at<std::uint64_t>(at + fields_.fifth);
}

std::uint64_t StructTables::lowest_static(const char* type) const {
  std::uint64_t lowest = 0;
  for (std::uint64_t at = fields_.begin;; at += fields_.stride) {
    const auto* type_name = value_at<const char*>(at + fields_.name);
    if (type_name == nullptr) {
      return lowest;
    }
    const auto address = value_at<std::uint64_t>(at + fields_.fifth);
    if (address != 0 && (lowest == 0 || address < lowest) && os::equal(type_name, type)) {
      lowest = address;
    }
  }
}

std::uint64_t StructTables::type_size(const char* type) const {
  for (std::uint64_t at = types_.begin;; at += types_.stride) {
    const auto* name = value_at<const char*>(at + types_.name);
    if (name == nullptr) {
      return 0;
    }
    if (os::equal(name, type)) {
      return value_at<std::uint64_t>(at + types_.second);
    }
  }
}

bool StructTables::int_constant(const char* name, std::int32_t* value) const {
  for (std::uint64_t at = constants_.begin;; at += constants_.stride) {
    const auto* known = value_at<const char*>(at + constants_.name);
    if (known == nullptr) {
      return false;
    }
    if (os::equal(known, name)) {
      *value = value_at<std::int32_t>(at + constants_.second);
      return true;
    }
  }
}

} // namespace jprof::agent::jvm
