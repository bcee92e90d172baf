// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The session's signal handlers: SIGPROF (or another signal, see free_signal) takes samples;
// SIGSEGV and SIGBUS make protected loads fail softly and hand everything else to whom they
// belonged before. install, ignore and restore run on the agent's thread alone.

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::sampling {

// Why handlers could not be installed.
enum class InstallError { kNone, kSignalTaken, kRefused };

// A signal that has no handler: SIGPROF, or where that has one a real-time signal that the kernel
// still treats in its own way; SIGPROF if there is none.
int free_signal();

// Installs the fault handlers and the sampling handler. `taken_by` gets the foreign handler's
// address with kSignalTaken. The sampler is not used before publish().
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

// Makes the kernel discard the signals that are still pending; nothing if the handler is not ours.
void ignore_signal();

// Waits until no handler runs; returns how many still do at the deadline.
std::uint32_t wait_for_handlers(std::uint64_t timeout_ns);

// Puts back what was installed before us, where what is installed is still ours.
void restore_handlers();

} // namespace jprof::agent::sampling
