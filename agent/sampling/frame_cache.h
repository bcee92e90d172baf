// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Remembers the frames that a return address into compiled code stands for. Reading them anew for
// each sample touches some 25 cache lines per frame, of the code cache, the nmethod's tables and
// metaspace; here it takes one line, and three more to prove that it is still true
// (StackWalker::find_cached).
//
// Signal-safe and lock-free: any number of threads read and write at once. Each entry has a
// sequence number, which is odd while somebody writes. What was read while it changed is not used,
// and a thread that finds it odd neither reads nor writes. A writer that never returns costs one
// entry.

#include "agent/sampling/shared_memory.h"
#include "lib/wire/region.h"

#include <cstdint>

namespace jprof::agent::sampling {

// A piece of what is known about a return address. The frames of one physical frame, leaf first,
// take as many pieces as they need.
struct CachedFrames {
  static constexpr std::uint32_t kMaxFrames = 4;

  std::uint64_t blob = 0; // the nmethod's address; compile_id says which one was there
  std::uint32_t compile_id = 0;
  std::uint32_t frame_bytes = 0;
  std::uint8_t count = 0;
  bool is_native = false; // the wrapper of a native method
  bool has_more = false;  // in the next piece
  wire::Frame frames[kMaxFrames] = {};
};

class FrameCache {
 public:
  // One cache line.
  struct alignas(64) Entry {
    std::uint32_t sequence;   // 0: never written
    std::uint32_t generation; // that the frames' names belong to
    std::uint64_t pc;
    std::uint64_t identity; // compile id in the high half, distance from the blob in the low
    std::uint64_t shape;    // see pack()
    wire::Frame frames[CachedFrames::kMaxFrames];
  };
  static_assert(sizeof(Entry) == 64);

  static constexpr std::uint32_t kMaxPieces = 16;

  enum class Put : std::uint8_t { kAdded, kEvicted, kBusy };

  FrameCache() = default;
  // `count` entries, a power of two of at least 2, all zero.
  FrameCache(Entry* entries, std::uint64_t count) : entries_(entries), mask_(count - 1) {}

  bool is_usable() const { return entries_ != nullptr; }

  // The piece of a generation's frames at `pc`; false if it is not kept.
  bool find(std::uint64_t pc, std::uint32_t piece, std::uint32_t generation,
            CachedFrames* found) const {
    const std::uint64_t first = index_of(pc, piece);
    return read(entries_[first], pc, piece, generation, found) ||
           read(entries_[first ^ 1], pc, piece, generation, found);
  }

  Put put(std::uint64_t pc, std::uint32_t piece, std::uint32_t generation,
          const CachedFrames& frames) const {
    bool evicts = false;
    Entry& entry = place_for(pc, piece, generation, &evicts);
    std::uint32_t sequence = load_relaxed(entry.sequence);
    if ((sequence & 1) != 0 ||
        !shared(entry.sequence)
             .compare_exchange_strong(sequence, sequence + 1, std::memory_order_acq_rel)) {
      return Put::kBusy;
    }
    // Each store is a release, so that whoever sees it also sees the odd number.
    store_release(entry.generation, generation);
    store_release(entry.pc, pc);
    store_release(entry.identity, std::uint64_t{frames.compile_id} << 32 |
                                      static_cast<std::uint32_t>(pc - frames.blob));
    store_release(entry.shape, pack(frames, piece));
    for (std::uint32_t i = 0; i < frames.count; ++i) {
      store_release(entry.frames[i], frames.frames[i]);
    }
    store_release(entry.sequence, sequence + 2);
    return evicts ? Put::kEvicted : Put::kAdded;
  }

 private:
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15; // the golden ratio's fraction

  std::uint64_t index_of(std::uint64_t pc, std::uint32_t piece) const {
    const std::uint64_t hash = (pc + piece) * kOdd;
    return (hash >> 32 ^ hash >> 48) & mask_;
  }

  // Bits 0 to 31 the frame's size, 32 to 39 the number of frames, 40 to 47 the piece, 48 native,
  // 49 has more.
  static std::uint64_t pack(const CachedFrames& frames, std::uint32_t piece) {
    return frames.frame_bytes | std::uint64_t{frames.count} << 32 | std::uint64_t{piece} << 40 |
           std::uint64_t{frames.is_native} << 48 | std::uint64_t{frames.has_more} << 49;
  }

  // Each load is an acquire, so that the number is read again after all of them.
  static bool read(Entry& entry, std::uint64_t pc, std::uint32_t piece, std::uint32_t generation,
                   CachedFrames* found) {
    const std::uint32_t sequence = load_acquire(entry.sequence);
    if ((sequence & 1) != 0 || load_acquire(entry.pc) != pc ||
        load_acquire(entry.generation) != generation) {
      return false;
    }
    const std::uint64_t identity = load_acquire(entry.identity);
    const std::uint64_t shape = load_acquire(entry.shape);
    found->blob = pc - static_cast<std::uint32_t>(identity);
    found->compile_id = static_cast<std::uint32_t>(identity >> 32);
    found->frame_bytes = static_cast<std::uint32_t>(shape);
    found->count = static_cast<std::uint8_t>(shape >> 32);
    found->is_native = (shape >> 48 & 1) != 0;
    found->has_more = (shape >> 49 & 1) != 0;
    for (std::uint32_t i = 0; i < CachedFrames::kMaxFrames; ++i) {
      found->frames[i] = load_acquire(entry.frames[i]);
    }
    return (shape >> 40 & 0xff) == piece && found->count <= CachedFrames::kMaxFrames &&
           load_relaxed(entry.sequence) == sequence;
  }

  // The entry that already holds it; else one that is no longer in use; else the one written less
  // often.
  Entry& place_for(std::uint64_t pc, std::uint32_t piece, std::uint32_t generation,
                   bool* evicts) const {
    const std::uint64_t first = index_of(pc, piece);
    Entry* pair[2] = {&entries_[first], &entries_[first ^ 1]};
    for (Entry* entry : pair) {
      if (load_relaxed(entry->pc) == pc && (load_relaxed(entry->shape) >> 40 & 0xff) == piece) {
        return *entry;
      }
    }
    for (Entry* entry : pair) {
      if (load_relaxed(entry->sequence) == 0 || load_relaxed(entry->generation) != generation) {
        return *entry;
      }
    }
    *evicts = true;
    return load_relaxed(pair[1]->sequence) < load_relaxed(pair[0]->sequence) ? *pair[1] : *pair[0];
  }

  Entry* entries_ = nullptr;
  std::uint64_t mask_ = 0;
};

} // namespace jprof::agent::sampling
