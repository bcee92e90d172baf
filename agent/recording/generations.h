// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Alternates between the two generations of stacks and names: the full one is closed as soon as no
// handler uses it, read by the sidecar, and emptied once the sidecar has acknowledged it. Agent's
// thread only.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::recording {

class Generations {
 public:
  void begin(sampling::Sampler* sampler);
  // Closes the inactive generation once no handler uses it, and switches if the active one is half
  // full.
  void tick();
  // The sidecar has read every closed generation up to this number.
  void drained(std::uint32_t number);
  // Call it after the last handler has left, when whatever is active is final.
  void close_all();

 private:
  bool is_half_full(const sampling::Generation& generation) const;

  sampling::Sampler* sampler_ = nullptr;
  std::uint32_t last_number_ = 0;
  bool closing_ = false; // the inactive one waits for its last handler
};

} // namespace jprof::agent::recording
