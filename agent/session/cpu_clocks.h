// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The clocks with which a session's samples are compared: the CPU time of the whole process and, in
// it, of the agent's own thread, which no sample stands for. Written to the region's counters, in
// nanoseconds. The agent's thread only.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent {

class CpuClocks {
 public:
  // Before the first timer: no thread's account begins earlier.
  void begin(sampling::Sampler& sampler);
  // After the last of the first timers: all of their threads' accounts have begun.
  void note_armed(sampling::Sampler& sampler) const;
  // Now and then, and once the timers are gone. `settled`: whatever is done once a session has been
  // done, so that the agent's thread uses from here on what it uses in any second.
  void note(sampling::Sampler& sampler, bool settled);

 private:
  std::uint64_t agent_at_begin_ns_ = 0;
  std::uint64_t process_at_begin_ns_ = 0;
  bool settled_ = false;
};

} // namespace jprof::agent
