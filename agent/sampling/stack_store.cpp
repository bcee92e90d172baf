// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/stack_store.h"

namespace jprof::agent::sampling {
namespace {

constexpr std::uint64_t kMaxProbes = 64;
// How depth is given up, in this order, when the arena is full.
constexpr std::uint32_t kShorterDepths[] = {256, 32};

bool same(const wire::StackRecord* record, const wire::Frame* frames, std::uint32_t depth,
          std::uint16_t flags) {
  if (record->depth != depth || record->flags != flags) {
    return false;
  }
  const auto* stored = reinterpret_cast<const wire::Frame*>(record + 1);
  for (std::uint32_t i = 0; i < depth; ++i) {
    if (stored[i] != frames[i]) {
      return false;
    }
  }
  return true;
}

// A complete record; 0 if there is no room.
std::uint32_t write(const Arena& arena, const wire::Frame* frames, std::uint32_t depth,
                    std::uint16_t flags, std::uint64_t hash) {
  auto* record = static_cast<wire::StackRecord*>(
      arena.reserve(sizeof(wire::StackRecord) + std::uint64_t{depth} * sizeof(wire::Frame)));
  if (record == nullptr) {
    return 0;
  }
  record->depth = static_cast<std::uint16_t>(depth);
  record->flags = flags;
  record->hash = hash;
  __builtin_memcpy(record + 1, frames, depth * sizeof(wire::Frame));
  store_release(record->ready, std::uint32_t{1});
  return arena.offset_of(record);
}

} // namespace

std::uint64_t hash_frames(const wire::Frame* frames, std::uint32_t depth) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL ^ depth;
  for (std::uint32_t i = 0; i < depth; ++i) {
    hash = (hash ^ frames[i]) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  return hash;
}

std::uint32_t StackStore::put(const wire::Frame* frames, std::uint32_t depth,
                              std::uint16_t flags) const {
  const std::uint64_t hash = hash_frames(frames, depth);
  const std::uint64_t tag = hash >> 32 << 32;
  std::uint32_t mine = 0;
  for (std::uint64_t probe = 0; probe < kMaxProbes; ++probe) {
    std::uint64_t& slot = table.slots[(hash + probe) & table.mask];
    std::uint64_t entry = load_acquire(slot);
    if (entry == 0) {
      if (mine == 0) {
        mine = write(arena, frames, depth, flags, hash);
        if (mine == 0) {
          return 0;
        }
      }
      if (shared(slot).compare_exchange_strong(entry, tag | mine, std::memory_order_acq_rel)) {
        return mine;
      }
    }
    if (entry >> 32 << 32 == tag) {
      const auto offset = static_cast<std::uint32_t>(entry);
      if (same(arena.record_at<wire::StackRecord>(offset), frames, depth, flags)) {
        return offset;
      }
    }
  }
  // The table is crowded here: store the stack without sharing it.
  return mine != 0 ? mine : write(arena, frames, depth, flags, hash);
}

std::uint32_t StackStore::put_what_fits(const wire::Frame* frames, std::uint32_t depth,
                                        std::uint16_t flags) const {
  const auto with = [&](wire::StackFlag flag) {
    return static_cast<std::uint16_t>(flags | static_cast<std::uint16_t>(flag));
  };
  std::uint32_t offset = put(frames, depth, flags);
  for (const std::uint32_t shorter : kShorterDepths) {
    if (offset == 0 && depth > shorter) {
      offset = put(frames, shorter, with(wire::StackFlag::kTruncated));
    }
  }
  if (offset == 0 && depth > 2) {
    const wire::Frame ends[2] = {frames[0], frames[depth - 1]};
    offset = put(ends, 2, with(wire::StackFlag::kMiddleCut));
  }
  return offset;
}

} // namespace jprof::agent::sampling
