// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/wire/region.h"

#include <array>
#include <cstdint>

namespace jprof::record {

// How many bytes of records have been taken from the arena of each generation. The records of a
// sane agent lie one behind the other, so all of them together are no longer than the arena; those
// of a hostile one may overlap, and some KiB then stand for gigabytes. One thread at a time.
class ArenaBudget {
 public:
  // `bytes`: what the records of one generation may have together.
  explicit ArenaBudget(std::uint64_t bytes) : bytes_(bytes) {}

  // False if so much is not left to the generation: the record is to be refused.
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
  // The region shows as many generations at a time as there are entries; a new one is the later.
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
