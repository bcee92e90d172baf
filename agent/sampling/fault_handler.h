// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ours for SIGSEGV and SIGBUS: they make protected loads fail softly (arch/safe_load.h) and hand
// all other faults to whom they belonged before. Whoever installs a handler while ours is there
// keeps its address for good and passes faults on to it, also in later sessions. So a handler of
// ours never changes its mind about who comes behind it: each action that was ever replaced has an
// entry point of its own. install and restore run on the agent's thread alone.

#include "agent/sampling/sampler.h"

namespace jprof::agent::sampling {

// libjvm's JVM_handle_linux_signal, if it has one: the last resort for a fault that goes in
// circles.
void know_jvm_handler(void* function);

// False if the kernel refused, or more different actions have been replaced than there are entry
// points for.
bool install_fault_handlers();

// Once each tick: puts ours in front again where somebody has put back what was there before it,
// over our head. Until then a protected load that fails is taken for a crash.
void keep_fault_handlers();

// Puts back what was installed before us, where what is installed is ours.
void restore_fault_handlers();

// Whose faults and calls of AsyncGetCallTrace are handled from now on; null: nobody's.
void guard(Sampler* sampler);

} // namespace jprof::agent::sampling
