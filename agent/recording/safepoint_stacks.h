// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The walkers that can walk a thread only where the JVM has stopped it: JVMTI GetStackTrace, and
// all stacks at once as ThreadMXBean returns them. As with every walker, the timers say how much
// CPU time each thread has used. Here the agent's thread then asks the JVM for the thread's stack
// and gets that of the next safepoint poll, which is why these walkers are biased. Agent's thread
// only.

#include "agent/jvm/tool_interface.h"
#include "agent/recording/region_layout.h"
#include "agent/sampling/sampler.h"
#include "lib/wire/region.h"

#include <cstdint>

namespace jprof::agent::recording {

class SafepointStacks {
 public:
  // From now on handlers only note the time. REQUIRES: the handlers are not published yet.
  void begin(sampling::Sampler* sampler, const PrivateTables& tables, jvm::ToolInterface* tools,
             wire::Walker walker);
  bool is_active() const { return sampler_ != nullptr; }
  // Finds the stacks of the threads whose time is waiting for one. May block on the JVM.
  void tick();
  // Turns whatever still waits into samples without a stack. REQUIRES: no handler runs any more.
  void finish();

 private:
  static constexpr std::uint32_t kMax = 256; // threads per tick; the others wait for the next one

  std::uint32_t collect();
  bool take(std::int32_t tid, sampling::ThreadEntry** entry);

  sampling::Sampler* sampler_ = nullptr;
  jvm::ToolInterface* tools_ = nullptr;
  wire::Walker walker_ = wire::Walker::kVmStructs;
  std::uint32_t waiting_[kMax] = {}; // slots
  std::uint32_t count_ = 0;
};

} // namespace jprof::agent::recording
