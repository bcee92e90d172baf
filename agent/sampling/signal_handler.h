// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What our signal handlers share: reading, making and calling the kernel's actions.

#include "agent/arch/arch.h"
#include "agent/os/system.h"

#include <cstdint>

namespace jprof::agent::sampling {

using SignalHandler = void (*)(int, siginfo_t*, void*);

inline void* as_pointer(SignalHandler handler) {
  return reinterpret_cast<void*>(handler);
}

// Neither SIG_DFL nor SIG_IGN.
inline bool is_function(const os::KernelSigaction& action) {
  return action.handler != reinterpret_cast<void*>(SIG_DFL) &&
         action.handler != reinterpret_cast<void*>(SIG_IGN);
}

// REQUIRES: is_function(action).
inline void call(const os::KernelSigaction& action, int signal, siginfo_t* info, void* context) {
  if ((action.flags & SA_SIGINFO) != 0) {
    reinterpret_cast<SignalHandler>(action.handler)(signal, info, context);
  } else {
    reinterpret_cast<void (*)(int)>(action.handler)(signal);
  }
}

inline os::KernelSigaction make_action(SignalHandler handler, unsigned long flags,
                                       std::uint64_t mask) {
  constexpr unsigned long kRestorerFlag = 0x04000000; // SA_RESTORER of the kernel's <asm/signal.h>
  os::KernelSigaction action;
  action.handler = as_pointer(handler);
  action.flags = flags;
  action.mask = mask;
  if (arch::signal_restorer() != nullptr) {
    action.flags |= kRestorerFlag;
    action.restorer = arch::signal_restorer();
  }
  return action;
}

} // namespace jprof::agent::sampling
