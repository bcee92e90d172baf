// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which compiled code existed before DebugNonSafepoints was turned on (jvm/inlining_detail.h), by
// the compile ids of the nmethods: HotSpot counts them up from 1, and no two are the same. A method
// gets its id when it is queued for its compiler, so one with a lower id may be compiled later.

#include "agent/sampling/shared_memory.h"

#include <cstdint>

namespace jprof::agent::sampling {

// Remembers which of the last kSpan compile ids, up to the highest one added, were added. One
// thread adds; others may read meanwhile.
class RecentIds {
 public:
  static constexpr std::uint32_t kSpan = 8192; // more than compilers' queues hold

  void clear() {
    highest_ = 0;
    for (std::uint64_t& word : bits_) {
      store_relaxed(word, std::uint64_t{0});
    }
  }
  void add(std::uint32_t id) {
    if (id > highest_) {
      const std::uint32_t passed = id - highest_ < kSpan ? id - highest_ : kSpan;
      for (std::uint32_t i = 0; i < passed; ++i) {
        set(id - i, false);
      }
      highest_ = id;
    }
    if (highest_ - id < kSpan) {
      set(id, true);
    }
  }
  std::uint32_t highest() const { return highest_; }
  // True if it was added and is within the span.
  bool has(std::uint32_t id) const {
    return id <= highest_ && highest_ - id < kSpan &&
           (load_relaxed(bits_[id % kSpan / 64]) >> (id % 64) & 1) != 0;
  }

 private:
  void set(std::uint32_t id, bool value) {
    std::uint64_t& word = bits_[id % kSpan / 64];
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    store_relaxed(word, value ? word | bit : word & ~bit);
  }

  std::uint32_t highest_ = 0;
  mutable std::uint64_t bits_[kSpan / 64] = {}; // atomic
};

// The agent's thread writes, handlers read at any time.
class OldCode {
 public:
  // Until publish(): all code is old.
  void begin() {
    store_relaxed(is_known_, 0U);
    ids_.clear();
  }
  // Says that there is an nmethod with this id. Only between begin() and publish().
  void add(std::uint32_t id) { ids_.add(id); }
  // From now on what was added is old, and everything with a much lower id; if nothing was added,
  // nothing is old.
  void publish() { store_release(is_known_, 1U); }

  // An id that could not be read is 0.
  bool holds(std::uint32_t id) const {
    if (load_acquire(is_known_) == 0) {
      return true;
    }
    const std::uint32_t highest = ids_.highest();
    return id != 0 && id <= highest && (highest - id >= RecentIds::kSpan || ids_.has(id));
  }

 private:
  mutable std::uint32_t is_known_ = 0; // atomic
  RecentIds ids_;
};

} // namespace jprof::agent::sampling
