// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a session could not undo because the kernel refuses the call: a program may install a
// seccomp filter at any time. Agent's thread only.

#include "agent/control/failure.h"
#include "agent/sampling/sampler.h"

namespace jprof::agent {

// A failure if the calls that end a session are refused already: what it makes would stay in the
// JVM.
Failure check_end();

// Notes in the region what stays, and keeps the signal handler for timers that keep firing: without
// one they would end the JVM. REQUIRES: the timers are gone as far as they can be, and the handlers
// have not been retired.
void note_leftovers(sampling::Sampler& sampler);

} // namespace jprof::agent
