// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How to find the caller's registers from those of a native frame, and a cache of such rules:
// reading the compilers' tables anew for each frame would be most of the cost of a sample.

#include "agent/sampling/shared_memory.h"

#include <cstddef>
#include <cstdint>

namespace jprof::agent::sampling {

enum class FrameBase : std::uint8_t { // what the caller's stack pointer is counted from
  kUnknown,                           // the tables say nothing, or use terms that we do not follow
  kStackPointer,
  kFramePointer,
  kLinkage, // procedure linkage table: the offset is the byte of an entry from which on 8 are
            // pushed
};
enum class SavedIn : std::uint8_t { kRegister, kFrame, kNowhere };

// Offsets say where in the frame a register is saved, in bytes from the caller's stack pointer.
struct FrameRule {
  FrameBase base = FrameBase::kUnknown;
  SavedIn return_address =
      SavedIn::kRegister; // kNowhere: this is the outermost frame, and the rest is unset
  SavedIn frame_pointer = SavedIn::kRegister;
  std::int64_t base_offset = 0;
  std::int64_t return_address_offset = 0;
  std::int64_t frame_pointer_offset = 0;
};

// The rules of some pcs. Signal-safe and lock-free: any number of threads read and write it at
// once. Each entry has two words, one of which proves that the other belongs to this pc: halves of
// two writers do not match.
class FrameRuleCache {
 public:
  bool find(std::uint64_t pc, FrameRule* rule) {
    Entry& entry = entries_[index_of(pc)];
    const std::uint64_t packed = load_relaxed(entry.packed);
    if (packed == 0 || (load_relaxed(entry.check) ^ mixed(packed)) != pc) {
      return false;
    }
    *rule = unpack(packed);
    return true;
  }

  // Does nothing if the rule is too large to be kept.
  void put(std::uint64_t pc, const FrameRule& rule) {
    const std::uint64_t packed = pack(rule);
    if (packed != 0) {
      Entry& entry = entries_[index_of(pc)];
      store_relaxed(entry.packed, packed);
      store_relaxed(entry.check, pc ^ mixed(packed));
    }
  }

  // REQUIRES: nobody else uses the cache.
  void clear() {
    for (Entry& entry : entries_) {
      store_relaxed(entry.packed, std::uint64_t{0});
    }
  }

 private:
  struct Entry {
    std::uint64_t packed = 0; // 0: empty
    std::uint64_t check = 0;
  };
  static constexpr unsigned kLog2Entries = 10;
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15; // the golden ratio's fraction
  static constexpr std::uint64_t kUsed = 1;
  static constexpr std::int64_t kOffsetLimit = 2048 * 8; // 12 bits, of words

  static std::uint64_t mixed(std::uint64_t packed) { return packed * kOdd; }
  static std::size_t index_of(std::uint64_t pc) { return pc * kOdd >> (64 - kLog2Entries); }

  // Bit 0 used, 1 and 2 base, 3 and 4 return address, 5 and 6 frame pointer, 8 to 19 and 20 to 31
  // their offsets in words, 32 to 63 the base's offset.
  static std::uint64_t pack(const FrameRule& rule) {
    if (!fits(rule.return_address_offset) || !fits(rule.frame_pointer_offset) ||
        rule.base_offset != static_cast<std::int32_t>(rule.base_offset)) {
      return 0;
    }
    return kUsed | std::uint64_t{static_cast<std::uint8_t>(rule.base)} << 1 |
           std::uint64_t{static_cast<std::uint8_t>(rule.return_address)} << 3 |
           std::uint64_t{static_cast<std::uint8_t>(rule.frame_pointer)} << 5 |
           (static_cast<std::uint64_t>(rule.return_address_offset / 8) & 0xfff) << 8 |
           (static_cast<std::uint64_t>(rule.frame_pointer_offset / 8) & 0xfff) << 20 |
           static_cast<std::uint64_t>(rule.base_offset) << 32;
  }
  static FrameRule unpack(std::uint64_t packed) {
    return {.base = static_cast<FrameBase>(packed >> 1 & 3),
            .return_address = static_cast<SavedIn>(packed >> 3 & 3),
            .frame_pointer = static_cast<SavedIn>(packed >> 5 & 3),
            .base_offset = static_cast<std::int32_t>(packed >> 32),
            .return_address_offset = words_at(packed, 8),
            .frame_pointer_offset = words_at(packed, 20)};
  }
  static bool fits(std::int64_t offset) {
    return offset % 8 == 0 && offset >= -kOffsetLimit && offset < kOffsetLimit;
  }
  static std::int64_t words_at(std::uint64_t packed, unsigned shift) {
    return (static_cast<std::int64_t>(packed << (52 - shift)) >> 52) * 8;
  }

  Entry entries_[1U << kLog2Entries];
};

} // namespace jprof::agent::sampling
