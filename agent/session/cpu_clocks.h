// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The clocks that a session's samples are compared with: the CPU time of the whole process and, as
// part of it, that of the agent's own thread, which no sample covers. Written to the region's
// counters, in nanoseconds. Agent's thread only.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent {

class CpuClocks {
 public:
  // Before the first timer: no thread's account begins earlier.
  void begin(sampling::Sampler& sampler);
  // Before the timers are taken away: no thread's account ends earlier.
  void begin_end();
  // Call it when all of the first timers are armed, and again once all timers are gone: the
  // accounts of all threads have then begun, or ended.
  void note_turns(sampling::Sampler& sampler) const;
  // Call it now and then, and once the timers are gone. `settled`: all work that is done once per
  // session is done, so from here on the agent's thread uses what it uses in any second.
  void note(sampling::Sampler& sampler, bool settled);

 private:
  std::uint64_t agent_at_begin_ns_ = 0;
  std::uint64_t agent_before_turns_ns_ = 0;
  std::uint64_t process_before_turns_ns_ = 0;
  bool settled_ = false;
};

} // namespace jprof::agent
