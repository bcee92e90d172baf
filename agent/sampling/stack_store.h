// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores each distinct stack of a generation once. Equality is by comparison; the hash is only a
// hint. Signal-safe, any thread; two threads that store the same new stack at once may leave a
// second record, which is valid but redundant.

#include "agent/sampling/arena.h"
#include "lib/wire/region.h"

#include <cstdint>

namespace jprof::agent::sampling {

struct StackStore {
  Arena arena;
  OffsetTable table;

  // The offset (divided by 8) of the record with these frames and flags; 0 if there is no room.
  std::uint32_t put(const wire::Frame* frames, std::uint32_t depth, std::uint16_t flags) const;
  // The same, with as much of the stack as there is room for: all of it, its leaf end, or the root
  // and the leaf.
  std::uint32_t put_what_fits(const wire::Frame* frames, std::uint32_t depth,
                              std::uint16_t flags) const;
};

std::uint64_t hash_frames(const wire::Frame* frames, std::uint32_t depth);

} // namespace jprof::agent::sampling
