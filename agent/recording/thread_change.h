// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/sampling/shared_memory.h"
#include "lib/wire/region.h"

#include <atomic>
#include <cstdint>

namespace jprof::agent::recording {

// A reader accepts a slot if its sequence number is even and the same before and after.
template <typename Change>
void change(wire::ThreadSlot& slot, Change&& apply) {
  sampling::store_release(slot.seq, slot.seq + 1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  apply(slot);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  sampling::store_release(slot.seq, slot.seq + 1);
}

inline std::uint16_t flag(wire::ThreadFlag value) {
  return static_cast<std::uint16_t>(value);
}

} // namespace jprof::agent::recording
