// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thread may block SIGSEGV and SIGBUS: because it blocks every signal it can, or because it is in
// its own fault handler. A load that faults there reaches no handler at all: the kernel restores
// the default action for the whole process, and ends it (force_sig_info_to_task in
// kernel/signal.c). For signal handlers, on their own thread.

#include "agent/os/system.h"

#include <cstddef>
#include <cstdint>
#include <ucontext.h>

namespace jprof::agent::sampling {

inline constexpr std::uint64_t kFaultSignals =
    std::uint64_t{1} << (SIGSEGV - 1) | std::uint64_t{1} << (SIGBUS - 1);

// True if loads may fault in the rest of this handler, which interrupted `ucontext`. If the signals
// are blocked, unblocks both until the handler returns, when the kernel restores the mask that it
// found. `may_call`: a system call of ours does this thread no harm.
inline bool let_faults_arrive(const void* ucontext, bool may_call) {
  std::uint64_t blocked = 0; // the kernel's mask is the first word of libc's
  __builtin_memcpy(&blocked, static_cast<const char*>(ucontext) + offsetof(ucontext_t, uc_sigmask),
                   sizeof blocked);
  if ((blocked & kFaultSignals) == 0) {
    return true;
  }
  return may_call && arch::system_call(SYS_rt_sigprocmask, SIG_UNBLOCK,
                                       os::as_argument(&kFaultSignals), 0, 8) == 0;
}

} // namespace jprof::agent::sampling
