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

// Our slots of the thread hash table, behind the entries of the private section.
struct PrivateTables {
  sampling::WaitingTime* waiting = nullptr; // for each thread slot
  std::uint32_t* thread_index = nullptr;    // open addressing: slot + 1, 0 empty
  std::uint32_t thread_index_mask = 0;
  wire::ThreadSlot* thread_slots = nullptr;
  wire::ModuleSlot* module_slots = nullptr;
  std::uint32_t module_capacity = 0;
};

// Writes the section table and makes `sampler` and `tables` point into the region, whose bytes are
// all zero. False if it is too small.
bool lay_out(void* region, std::uint64_t bytes, sampling::Sampler* sampler, PrivateTables* tables);

// Empties a generation slot (its arenas and tables) for `number` and makes it ready for handlers.
// REQUIRES: no handler uses it.
void reset_generation(sampling::Generation& generation, std::uint32_t number);

} // namespace jprof::agent::recording
