// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests (wire::StartFlag::kCheckCache): walks each stack once more without the frame cache, and
// reports whether the two differ. Signal-safe.

#include "agent/sampling/name_store.h"
#include "agent/sampling/stack_walker.h"

#include <cstdint>

namespace jprof::agent::sampling {

// Two threads that name the same method at once leave two records of it.
inline bool are_same_name(const NameStore& names, std::uint32_t one, std::uint32_t other) {
  const auto* left = names.arena.record_at<wire::NameRecord>(one);
  const auto* right = names.arena.record_at<wire::NameRecord>(other);
  if (one == 0 || other == 0 || left->record_bytes != right->record_bytes) {
    return one == other;
  }
  const auto* a = reinterpret_cast<const std::uint8_t*>(left);
  const auto* b = reinterpret_cast<const std::uint8_t*>(right);
  for (std::uint32_t i = 0; i < left->record_bytes; ++i) {
    if (a[i] != b[i]) {
      return false;
    }
  }
  return true;
}

inline bool are_same_frame(const NameStore& names, wire::Frame one, wire::Frame other) {
  constexpr std::uint64_t kName = 0xffffffff;
  const wire::FrameKind kind = wire::frame_kind(one);
  const bool named = kind != wire::FrameKind::kNative && kind != wire::FrameKind::kKernel &&
                     kind != wire::FrameKind::kError;
  return one == other || (named && (one & ~kName) == (other & ~kName) &&
                          are_same_name(names, wire::frame_name(one), wire::frame_name(other)));
}

inline bool are_same_stack(const NameStore& names, const WalkedStack& one, const wire::Frame* ones,
                           const WalkedStack& other, const wire::Frame* others) {
  if (one.depth != other.depth || one.flags != other.flags || one.error != other.error) {
    return false;
  }
  for (std::uint32_t i = 0; i < one.depth; ++i) {
    if (!are_same_frame(names, ones[i], others[i])) {
      return false;
    }
  }
  return true;
}

// `walk(frames, cached)` walks the stack with the cache, or without it. False if `stack`, which was
// found with the cache and is in `frames`, differs every time from the one found without it. It
// tries more than once because, while a thread is in its handler, the JVM may still patch its
// return addresses, and a collector may move frozen frames, but not again and again. `others` has
// as much room as `frames`.
template <typename Walk>
bool is_same_without_cache(const NameStore& names, Walk&& walk, WalkedStack* stack,
                           wire::Frame* frames, wire::Frame* others) {
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    const WalkedStack other = walk(others, false);
    if (are_same_stack(names, *stack, frames, other, others)) {
      return true;
    }
    *stack = walk(frames, true);
  }
  return false;
}

} // namespace jprof::agent::sampling
