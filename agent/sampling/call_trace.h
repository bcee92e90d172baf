// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stacks from AsyncGetCallTrace, which libjvm exports but no header declares (prims/forte.cpp, the
// same in 8 to 25). It shows only frames of Java methods, needs a jmethodID for each (made
// beforehand: jvm/tool_interface.h), and fails where HotSpot's own walker gives up. Call it in a
// signal handler, on the interrupted thread. It runs guarded: a fault in it costs the sample, not
// the JVM.

#include "agent/sampling/name_store.h"
#include "agent/sampling/stack_walker.h"
#include "agent/sampling/vm_layout.h"

#include <cstdint>

namespace jprof::agent::sampling {

struct CallTraceRequest {
  void* function = nullptr; // AsyncGetCallTrace
  const void* ucontext = nullptr;
  std::uint64_t java_thread = 0;       // 0: none, and no stack
  wire::Frame* frames = nullptr;       // room for kMaxScratchDepth
  std::uint64_t* guarded_sp = nullptr; // as arch::call_guarded takes it
  std::uint32_t max_depth = 0;
};

WalkedStack walk_by_call_trace(const VmLayout& vm, const NameStore& names,
                               const CallTraceRequest& request);

} // namespace jprof::agent::sampling
