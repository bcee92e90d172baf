// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a session could not take back because the kernel refuses the call: a program may give itself
// a seccomp filter at any time. Agent's thread only.

#include "agent/control/failure.h"
#include "agent/sampling/sampler.h"

namespace jprof::agent {

// A failure if what a session ends with is refused already: it would stay in the JVM.
Failure check_end();

// Notes in the region what stays, and keeps the signal's handler for timers that go on: without one
// they would end the JVM. REQUIRES: the timers are gone as far as they can be, and the handlers
// have not been retired.
void note_leftovers(sampling::Sampler& sampler);

} // namespace jprof::agent
