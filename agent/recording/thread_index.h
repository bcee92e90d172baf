// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds a thread's slot by its id: open addressing in the region's memory. Agent's thread only.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::recording {

class ThreadIndex {
 public:
  ThreadIndex() = default;
  // The table's `slots` (a power of two, at least twice the entries) are zero.
  ThreadIndex(const sampling::ThreadEntry* entries, std::uint32_t* slots, std::uint32_t mask)
      : entries_(entries), slots_(slots), mask_(mask) {}

  bool find(std::int32_t tid, std::uint32_t* slot) const;
  void insert(std::int32_t tid, std::uint32_t slot);
  void remove(std::int32_t tid);
  // Forgets removed entries once there are many; up to `used` entries may be in use.
  void tidy(std::uint32_t used);

 private:
  bool find_place(std::int32_t tid, std::uint32_t* place) const;

  const sampling::ThreadEntry* entries_ = nullptr;
  std::uint32_t* slots_ = nullptr; // slot + 1; 0 empty
  std::uint32_t mask_ = 0;
  std::uint32_t garbage_ = 0;
};

} // namespace jprof::agent::recording
