// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Handlers that have not returned, as seen from outside. One whose thread has jumped out of it
// never will: such a visit is ended in its place, once something proves that no frame of it is left
// on the thread's stack. Nobody is signalled for that. Agent's thread only.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent {

class OpenVisits {
 public:
  // `signal` is the one that handlers of this session answer.
  void begin(sampling::Sampler* sampler, int signal);
  // Ends those visits that are over, as far as can be told by now.
  void look();
  // Waits until no handler is inside, or for so long; how many are.
  std::uint32_t wait(std::uint64_t timeout_ns);

 private:
  static constexpr std::uint32_t kMostSuspects = 64; // the others are looked at when these are gone
  // A visit that was open at the last look.
  struct Suspect {
    std::uint32_t slot;
    std::uint32_t token;
    bool took_signals;    // its thread did not block ours then, and ran ...
    std::uint64_t cpu_ns; // ... and had used so much CPU time, when that was seen first
  };

  bool is_over(Suspect& suspect) const;
  Suspect remembered(std::uint32_t slot, std::uint32_t token) const;

  sampling::Sampler* sampler_ = nullptr;
  int signal_ = 0;
  Suspect suspects_[kMostSuspects] = {};
  std::uint32_t count_ = 0;
};

} // namespace jprof::agent
