// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The handler of the sampling signal: SIGPROF, or another (see free_signal). It takes samples while
// a sampler is published, and otherwise does nothing, so it may stay installed if a thread might
// still receive a signal of ours (agent/signals/retirement.h). Everything except the handler itself
// runs only on the agent's thread.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::sampling {

// Why handlers could not be installed.
enum class InstallError { kNone, kSignalTaken, kRefused };

// A signal that has no handler, except perhaps ours: SIGPROF, or, if that has one, a real-time
// signal whose action is still the default; SIGPROF if there is none.
int free_signal();

// Installs the fault handlers, unless the kernel does the loads (arch/safe_load.h), and the
// sampling handler. With kSignalTaken, `taken_by` gets the foreign handler's address. The sampler
// is not used before publish().
InstallError install_handlers(int signal, std::uint64_t* taken_by);

// A timer signal with this value is only counted, by calibration_signals(): it measures the cost of
// delivery (engines/delivery_cost.h) and is not a sample.
void* calibration_mark();
std::uint32_t calibration_signals();

// From now on (until withdraw()) handlers take samples into `sampler`.
void publish(Sampler* sampler);
void withdraw();

// True while the sampling signal's handler is ours.
bool handler_is_ours();

// Makes the kernel discard pending signals, including those of threads that block them, by ignoring
// the signal for a moment. Does nothing if the handler is not ours.
void drop_pending_signals();

// Waits until no handler runs; returns how many still run at the deadline.
std::uint32_t wait_for_handlers(std::uint64_t timeout_ns);

// From now on this session's signal keeps our handler until the process ends, doing nothing between
// sessions, because something may keep sending it.
void keep_signal_handler();

// False if the kernel refuses to report a signal's action, and so also to change it.
bool actions_can_be_changed();

// Restores what was installed before us, for each signal that was ever used for sampling and whose
// handler is still ours. REQUIRES: no thread holds one of our signals.
void restore_signal_handlers();

} // namespace jprof::agent::sampling
