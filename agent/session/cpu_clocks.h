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
  // Before the timers are taken away: no thread's account ends earlier.
  void begin_end();
  // After the last of the first timers, and once all are gone: the accounts of all threads have
  // begun, or ended.
  void note_turns(sampling::Sampler& sampler) const;
  // Now and then, and once the timers are gone. `settled`: whatever is done once a session has been
  // done, so that the agent's thread uses from here on what it uses in any second.
  void note(sampling::Sampler& sampler, bool settled);

 private:
  std::uint64_t agent_at_begin_ns_ = 0;
  std::uint64_t agent_before_turns_ns_ = 0;
  std::uint64_t process_before_turns_ns_ = 0;
  bool settled_ = false;
};

} // namespace jprof::agent
