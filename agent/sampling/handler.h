// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The handler of the sampling signal: SIGPROF, or another (see free_signal). While a sampler is
// published it takes samples, else it does nothing at all, and may therefore stay where a thread
// might still be handed a signal of ours (agent/signals/retirement.h). All but the handler itself
// runs on the agent's thread alone.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::sampling {

// Why handlers could not be installed.
enum class InstallError { kNone, kSignalTaken, kRefused };

// A signal that has no handler but perhaps ours: SIGPROF, or where that has one a real-time signal
// that the kernel still treats in its own way; SIGPROF if there is none.
int free_signal();

// Installs the fault handlers, unless the kernel loads (arch/safe_load.h), and the sampling
// handler. `taken_by` gets the foreign handler's address with kSignalTaken. The sampler is not used
// before publish().
InstallError install_handlers(int signal, std::uint64_t* taken_by);

// A timer's signal with this value is counted by calibration_signals() and nothing else happens: it
// measures what delivery costs (engines/delivery_cost.h) and is no sample.
void* calibration_mark();
std::uint32_t calibration_signals();

// From now on (until withdraw()) handlers take samples into `sampler`.
void publish(Sampler* sampler);
void withdraw();

// True while the sampling signal's handler is ours.
bool handler_is_ours();

// Has the kernel discard the signals that are pending, also of threads that block them, by ignoring
// them for a moment; nothing if the handler is not ours.
void drop_pending_signals();

// Waits until no handler runs; returns how many still do at the deadline.
std::uint32_t wait_for_handlers(std::uint64_t timeout_ns);

// From now on this session's signal keeps our handler until the process ends, doing nothing between
// sessions: something may go on sending it.
void keep_signal_handler();

// False if the kernel refuses to say what a signal's action is, and so to change it.
bool actions_can_be_changed();

// Puts back what was installed before us for each signal that was ever sampled with, where what is
// installed is still ours. REQUIRES: no thread holds one of our signals.
void restore_signal_handlers();

} // namespace jprof::agent::sampling
