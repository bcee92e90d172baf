// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Guards two copies of something: handlers use the active one while the agent's thread prepares the
// other. Handlers count themselves in, so that the thread knows when nobody uses a copy any more.
// Handlers never wait. enter() and leave() are signal-safe.

#include <atomic>
#include <cstdint>

namespace jprof::agent::sampling {

class ReaderGate {
 public:
  // Counts the caller in and returns the copy (0 or 1) that it may use until leave().
  std::uint32_t enter() {
    for (;;) {
      const std::uint32_t copy = active_.load();
      readers_[copy].fetch_add(1);
      // Either idle() sees this count before the switch, or the count is taken back: the order of
      // the sequentially consistent operations here and in switch_to() decides.
      if (active_.load() == copy) {
        return copy;
      }
      readers_[copy].fetch_sub(1);
    }
  }
  void leave(std::uint32_t copy) { readers_[copy].fetch_sub(1); }

  std::uint32_t active() const { return active_.load(); }
  // True if nobody is counted in for this copy; final once it is not active.
  bool idle(std::uint32_t copy) const { return readers_[copy].load() == 0; }
  // For the agent's thread alone.
  void switch_to(std::uint32_t copy) { active_.store(copy); }
  void reset() {
    active_.store(0);
    readers_[0].store(0);
    readers_[1].store(0);
  }

 private:
  std::atomic<std::uint32_t> active_{0};
  std::atomic<std::uint32_t> readers_[2]{};
};

} // namespace jprof::agent::sampling
