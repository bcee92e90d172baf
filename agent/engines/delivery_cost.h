// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/sampling/sampler.h"

#include <cstdint>

namespace jprof::agent::engines {

// What one timer signal takes from the thread that it interrupts, in ns, the handler's own work
// apart: the timer's interrupt, the way through the kernel, the signal frame and the way back.
// Measured on the calling thread, which spins over a clock for about 3 ms while a timer interrupts
// it; the median of the gaps, so that being preempted does not count. (A signal that a thread sends
// to itself by a system call costs a sixth of that on a virtual machine: no interrupt.) 0 if no
// timer could be made. REQUIRES: the session's handlers are installed. The caller's signal mask is
// kept.
std::uint64_t measure_delivery(const sampling::Sampler& sampler, int signal);

} // namespace jprof::agent::engines
