// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A bump allocator in a section of the recording region (lib/wire/region.h, "Arenas"). Handlers on
// many threads may reserve at once. The agent's thread frees only the whole arena, when no handler
// uses it. Signal-safe.

#include "agent/sampling/shared_memory.h"

#include <cstddef>
#include <cstdint>

namespace jprof::agent::sampling {

struct Arena {
  std::uint8_t* base = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t* committed = nullptr; // in the region's header: the reader's upper bound

  // Reserves `wanted` zeroed bytes (a multiple of 8); null if there is no room.
  void* reserve(std::uint64_t wanted) const {
    std::uint64_t at = load_relaxed(*committed);
    do {
      if (at + wanted > bytes) {
        return nullptr;
      }
    } while (!shared(*committed).compare_exchange_weak(at, at + wanted, std::memory_order_relaxed));
    return base + at;
  }

  std::uint32_t offset_of(const void* record) const {
    return static_cast<std::uint32_t>((static_cast<const std::uint8_t*>(record) - base) / 8);
  }

  template <typename T>
  T* record_at(std::uint32_t offset) const {
    return reinterpret_cast<T*>(base + std::uint64_t{offset} * 8);
  }
};

// Open addressing over arena offsets; 0 is an empty slot. Power-of-two size.
struct OffsetTable {
  std::uint64_t* slots = nullptr; // offset in the low half, part of the hash in the high half
  std::uint64_t mask = 0;
};

} // namespace jprof::agent::sampling
