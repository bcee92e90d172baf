// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Divides a mapped region into its sections (docs/formats/region.md) and points a Sampler at them.
// Agent's thread only.

#include "agent/sampling/sampler.h"
#include "lib/wire/region.h"

#include <cstdint>

namespace jprof::agent::recording {

inline constexpr std::uint64_t kMinRegionBytes = 512 * 1024;
inline constexpr std::uint64_t kMaxRegionBytes = std::uint64_t{1} << 30;

// What only the agent's thread knows about a thread.
struct ThreadNote {
  std::uint64_t born_ns = 0;       // first seen, CLOCK_MONOTONIC; 0: before the session
  std::uint16_t looks_to_skip = 0; // of the looks at its CPU clock
  std::uint16_t skipped_last = 0;
  // Of the looks at its signal mask, if it has lost its timer because it blocks our signal.
  // `mask_looks_apart` is 0 if it has not.
  std::uint16_t mask_looks_to_skip = 0;
  std::uint16_t mask_looks_apart = 0;
  std::uint64_t moved_ns = 0;  // when its CPU clock was last seen to have advanced
  std::uint64_t timer_ns = 0;  // when it was given its latest timer
  std::uint16_t had_timer = 0; // 1: it has or had one
  std::uint16_t waits = 0;     // 1: for a timer, because there are too few
};

// Our slots of the thread hash table, after the entries of the private section.
struct PrivateTables {
  sampling::WaitingTime* waiting = nullptr; // one per thread slot
  ThreadNote* notes = nullptr;              // one per thread slot
  std::uint32_t* thread_index = nullptr;    // open addressing: slot + 1, 0 empty
  std::uint32_t thread_index_mask = 0;
  wire::ThreadSlot* thread_slots = nullptr;
  wire::ModuleSlot* module_slots = nullptr;
  std::uint32_t module_capacity = 0;
};

// Writes the section table and points `sampler` and `tables` into the region, whose bytes are all
// zero. Leaves room for the existing `threads` and some new ones, within 3/8 of the region
// (docs/formats/region.md). False if the region is too small.
bool lay_out(void* region, std::uint64_t bytes, std::uint64_t threads, sampling::Sampler* sampler,
             PrivateTables* tables);

// Empties a generation slot (its arenas and tables) for `number` and makes it ready for handlers.
// REQUIRES: no handler uses it.
void reset_generation(sampling::Generation& generation, std::uint32_t number);

} // namespace jprof::agent::recording
