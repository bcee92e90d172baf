// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How this JVM encodes references to objects, and when its collector may move them. Filled once by
// jvm/heap_layout.cpp. Signal-safe, any thread.

#include "agent/arch/safe_load.h"

#include <cstdint>

namespace jprof::agent::sampling {

struct HeapReferences {
  bool narrow = false; // references in objects are 32 bits
  std::uint32_t narrow_shift = 0;
  std::uint64_t narrow_base = 0;
  bool coloured = false; // generational ZGC keeps marks in pointers
  std::uint64_t bad_mask =
      0;                 // address of ZGC's mask of bits in stale references; 0: another collector
  bool forwards = false; // Shenandoah: a moved object's mark word says where it is now

  // The address that an uncompressed reference stands for.
  std::uint64_t decode(std::uint64_t raw) const {
    if (!coloured) {
      return raw;
    }
#ifdef __aarch64__
    return raw >> 16; // gc/z/zAddress, ZPointerLoadShift
#else
    // One of four bits is set; the address begins right above it (gc/z/zAddress.hpp).
    const auto remapped = static_cast<unsigned>(raw >> 12 & 0xf);
    return remapped == 0 ? 0 : raw >> (13 + __builtin_ctz(remapped));
#endif
  }

  // The same; 0 if the object may have been moved since.
  std::uint64_t decode_current(std::uint64_t raw) const {
    const bool stale = bad_mask != 0 && (raw & arch::word_at(bad_mask, ~std::uint64_t{0})) != 0;
    return stale ? 0 : moved_to(decode(raw));
  }

  // Where the object that was at this address is now.
  std::uint64_t moved_to(std::uint64_t object) const {
    constexpr std::uint64_t kForwarded = 3; // oops/markWord.hpp, marked_value
    if (!forwards || object == 0 || (object & 7) != 0) {
      return object;
    }
    const std::uint64_t mark = arch::word_at(object);
    return (mark & kForwarded) == kForwarded ? mark & ~kForwarded : object;
  }

  // What a field of an object refers to; 0 for null and for anything that is not an object.
  std::uint64_t at(std::uint64_t object, std::int32_t offset) const {
    return read(object, offset, &HeapReferences::decode);
  }
  // The same; 0 also if what it refers to may have been moved since.
  std::uint64_t current_at(std::uint64_t object, std::int32_t offset) const {
    return read(object, offset, &HeapReferences::decode_current);
  }

 private:
  std::uint64_t read(std::uint64_t object, std::int32_t offset,
                     std::uint64_t (HeapReferences::*decoded)(std::uint64_t) const) const {
    if (object == 0 || (object & 7) != 0) {
      return 0;
    }
    const std::uint64_t place = object + static_cast<std::uint64_t>(offset);
    if (!narrow) {
      return (this->*decoded)(arch::word_at(place));
    }
    std::uint32_t reference = 0;
    arch::load(place, &reference);
    return reference == 0
               ? 0
               : (this->*decoded)(narrow_base + (std::uint64_t{reference} << narrow_shift));
  }
};

// If equal before and after, no collection that stops the JVM has moved anything in between.
struct HeapClock {
  static constexpr std::uint64_t kCollecting = ~std::uint64_t{0};

  std::uint64_t collections = 0; // addresses: how many there have been (int)
  std::uint64_t collecting = 0;  // and whether one runs now (bool)

  // kCollecting while one runs.
  std::uint64_t now() const {
    std::uint8_t runs = 0;
    std::uint32_t count = 0;
    const bool known = arch::load(collecting, &runs) && arch::load(collections, &count);
    return known && runs == 0 ? count : kCollecting;
  }
};

} // namespace jprof::agent::sampling
