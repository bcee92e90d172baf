// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which threads may still be about to receive a signal that was sent to them before its source was
// removed. Between dequeuing a signal and looking up its action the kernel stops a thread in one
// place only, where it asks the thread's tracer (get_signal() of kernel/signal.c): nothing can take
// back a signal that the tracer holds there, and it gets the action in force when the tracer lets
// go. No signal is queued any more when this is used. Agent's thread only.

#include "agent/os/process.h"

#include <cstdint>

namespace jprof::agent {

class HeldSignals {
 public:
  // Examines all threads of the process except the caller.
  void begin();
  // Examines again those that may hold one; returns how many may.
  std::uint32_t look();

  // One of them, as it was when last examined: its tid, and what kept it from being cleared.
  // REQUIRES: look() > 0.
  std::int32_t tid() const { return tid_; }
  os::ThreadState state() const { return state_; }

 private:
  static constexpr std::uint32_t kMaxSuspects = 4096;
  struct Suspect {
    std::int32_t tid;
    bool measured; // cpu_ns is its CPU time when it was first seen without a tracer
    std::uint64_t cpu_ns;
  };

  void see(std::int32_t tid);
  bool may_hold(Suspect& suspect);

  Suspect suspects_[kMaxSuspects] = {};
  std::uint32_t count_ = 0;
  bool complete_ = false; // all threads have been examined, and there was room for all suspects
  std::int32_t own_tid_ = 0;
  std::int32_t tid_ = 0;
  os::ThreadState state_;
};

} // namespace jprof::agent
