// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Our handlers for SIGSEGV and SIGBUS. They make protected loads fail softly (arch/safe_load.h) and
// pass all other faults to the handler they replaced. Whoever installs a handler while ours is in
// place keeps the address of ours for good and passes faults on to it, even in later sessions. So
// the next handler after one of ours never changes: each action that was ever replaced has its own
// entry point. install and restore run only on the agent's thread.

#include "agent/sampling/sampler.h"

namespace jprof::agent::sampling {

// Takes libjvm's JVM_handle_linux_signal, if it has one: the last resort for a fault that goes in
// circles.
void know_jvm_handler(void* function);

// False if the kernel refused, or if more different actions have been replaced than there are entry
// points.
bool install_fault_handlers();

// Call it once per tick. Installs ours again if somebody has restored the action that was there
// before it. Until then a protected load that fails counts as a crash.
void keep_fault_handlers();

// Restores what was installed before us, where the installed handler is ours.
void restore_fault_handlers();

// Sets the sampler whose faults and calls of AsyncGetCallTrace are handled from now on; null: none.
void guard(Sampler* sampler);

} // namespace jprof::agent::sampling
