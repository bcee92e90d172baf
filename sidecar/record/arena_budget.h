// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/wire/region.h"

#include <array>
#include <cstdint>

namespace jprof::record {

// How many bytes of records have been taken from the arena of each generation. The records of a
// well-behaved agent follow one another, so all of them together are no longer than the arena;
// those of a hostile one may overlap, so that a few KiB stand for gigabytes. One thread at a time.
class ArenaBudget {
 public:
  // `bytes`: how much the records of one generation may take together.
  explicit ArenaBudget(std::uint64_t bytes) : bytes_(bytes) {}

  // False if the generation does not have that much left: the record must be refused.
  bool take(std::uint32_t generation, std::uint64_t record_bytes) {
    Taken& taken = of(generation);
    if (record_bytes > bytes_ - taken.bytes) {
      return false;
    }
    taken.bytes += record_bytes;
    return true;
  }

 private:
  struct Taken {
    std::uint32_t generation = 0;
    std::uint64_t bytes = 0;
  };
  // The region shows as many generations at a time as there are entries; a new one replaces the
  // older.
  Taken& of(std::uint32_t generation) {
    Taken* older = &taken_[0];
    for (Taken& taken : taken_) {
      if (taken.generation == generation) {
        return taken;
      }
      older = taken.generation < older->generation ? &taken : older;
    }
    *older = {generation, 0};
    return *older;
  }

  std::uint64_t bytes_;
  std::array<Taken, wire::kGenerations> taken_{};
};

} // namespace jprof::record
