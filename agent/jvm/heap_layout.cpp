// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/heap_layout.h"

#include "agent/arch/safe_load.h"

namespace jprof::agent::jvm {
namespace {

using arch::load;
using arch::word_at;

constexpr std::uint32_t kClassShiftInMark = 42; // oops/markWord.hpp, klass_shift (24+)

// The static field of the first name that this JVM has; 0 for none.
template <std::size_t Count>
std::uint64_t first_static(const StructTables& tables, const char* const (&names)[Count][2]) {
  for (const auto& [type, name] : names) {
    if (const std::uint64_t at = tables.static_address(type, name); at != 0) {
      return at;
    }
  }
  return 0;
}

// The address of one of ZGC's masks, which change with its phases.
std::uint64_t zgc_mask(const StructTables& tables, const char* type, const char* name) {
  const std::uint64_t instance = tables.static_address(type, "_instance_p");
  const std::int32_t offset = tables.offset(type, name);
  return instance != 0 && offset >= 0
             ? word_at(word_at(instance) + static_cast<std::uint64_t>(offset))
             : 0;
}

} // namespace

sampling::HeapReferences read_references(const StructTables& tables, const VmFlags& flags,
                                         std::uint32_t java_feature) {
  static constexpr const char* kBases[][2] = {{"Universe", "_narrow_oop._base"}, // 8 to 12
                                              {"CompressedOops", "_narrow_oop._base"},
                                              {"CompressedOops", "_base"}}; // 23+
  static constexpr const char* kShifts[][2] = {{"Universe", "_narrow_oop._shift"},
                                               {"CompressedOops", "_narrow_oop._shift"},
                                               {"CompressedOops", "_shift"}};
  sampling::HeapReferences references;
  references.narrow = flags.is_on("UseCompressedOops");
  if (references.narrow) {
    references.narrow_base = word_at(first_static(tables, kBases));
    load(first_static(tables, kShifts), &references.narrow_shift);
  }
  // Generational ZGC, an option in 21 to 23 and the only ZGC since 24, keeps marks in pointers; the
  // older one maps the heap once for each mark.
  references.coloured =
      flags.is_on("UseZGC") && (java_feature >= 24 || flags.is_on("ZGenerational"));
  if (references.coloured) {
    references.bad_mask = zgc_mask(tables, "ZGlobalsForVMStructs", "_ZPointerLoadBadMask");
  } else if (flags.is_on("UseZGC")) {
    references.bad_mask = java_feature >= 21
                              ? zgc_mask(tables, "XGlobalsForVMStructs", "_XAddressBadMask")
                              : zgc_mask(tables, "ZGlobalsForVMStructs", "_ZAddressBadMask");
  }
  references.forwards = flags.is_on("UseShenandoahGC");
  return references;
}

bool read_heap_clock(const StructTables& tables, sampling::HeapClock* clock) {
  const std::uint64_t at = tables.static_address("Universe", "_collectedHeap");
  const std::uint64_t heap = at != 0 ? word_at(at) : 0;
  const std::int32_t collections = tables.offset("CollectedHeap", "_total_collections");
  std::int32_t collecting = tables.offset("CollectedHeap", "_is_gc_active");
  if (collecting < 0) {
    collecting = tables.offset("CollectedHeap", "_is_stw_gc_active"); // 21+
  }
  if (heap == 0 || collections < 0 || collecting < 0) {
    return false;
  }
  clock->collections = heap + static_cast<std::uint64_t>(collections);
  clock->collecting = heap + static_cast<std::uint64_t>(collecting);
  return true;
}

bool ClassWords::open(const StructTables& tables, const VmFlags& flags) {
  static constexpr const char* kBases[][2] = {{"CompressedKlassPointers", "_narrow_klass._base"},
                                              {"CompressedKlassPointers", "_base"}}; // 23+
  static constexpr const char* kShifts[][2] = {{"CompressedKlassPointers", "_narrow_klass._shift"},
                                               {"CompressedKlassPointers", "_shift"}};
  const bool compact = flags.is_on("UseCompactObjectHeaders");
  narrow_ = compact || flags.is_on("UseCompressedClassPointers");
  if (narrow_) {
    base_ = word_at(first_static(tables, kBases));
    load(first_static(tables, kShifts), &shift_);
  }
  if (compact) {
    shift_in_word_ = kClassShiftInMark;
    offset_ = tables.offset("oopDesc", "_mark");
    return offset_ >= 0;
  }
  offset_ = tables.offset("oopDesc", narrow_ ? "_metadata._compressed_klass" : "_metadata._klass");
  return offset_ >= 0;
}

std::uint64_t ClassWords::class_of(std::uint64_t object) const {
  if (object == 0 || (object & 7) != 0) {
    return 0;
  }
  const std::uint64_t place = object + static_cast<std::uint64_t>(offset_);
  if (!narrow_) {
    return word_at(place);
  }
  std::uint64_t bits = 0;
  if (shift_in_word_ != 0) {
    bits = word_at(place) >> shift_in_word_;
  } else {
    std::uint32_t half = 0;
    load(place, &half);
    bits = half;
  }
  return bits == 0 ? 0 : base_ + (bits << shift_);
}

} // namespace jprof::agent::jvm
