// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Handlers that have not returned, as seen from outside. If a thread has jumped out of a handler,
// that handler never returns: such a visit is ended on its behalf once something proves that no
// frame of it is left on the thread's stack. No signal is sent for that. Agent's thread only.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent {

class OpenVisits {
 public:
  // `signal` is the one that this session's handlers handle.
  void begin(sampling::Sampler* sampler, int signal);
  // Ends those visits that are over, as far as is known by now.
  void look();
  // Waits until no handler is inside, at most for the timeout; returns how many are.
  std::uint32_t wait(std::uint64_t timeout_ns);

 private:
  static constexpr std::uint32_t kMaxSuspects = 64; // the others are examined when these are gone
  // A visit that was open at the last look.
  struct Suspect {
    std::uint32_t slot;
    std::uint32_t token;
    bool took_signals;    // its thread did not block our signal then, and was running ...
    std::uint64_t cpu_ns; // ... and had used this much CPU time when that was first seen
  };

  bool is_over(Suspect& suspect) const;
  Suspect remembered(std::uint32_t slot, std::uint32_t token) const;

  sampling::Sampler* sampler_ = nullptr;
  int signal_ = 0;
  Suspect suspects_[kMaxSuspects] = {};
  std::uint32_t count_ = 0;
};

} // namespace jprof::agent
