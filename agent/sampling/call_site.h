// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the caller of code that no unwind table covers and that keeps no frame pointer, such as
// musl. Signal-safe.

#include "agent/arch/arch.h"
#include "agent/sampling/module_map.h"

namespace jprof::agent::sampling {

// Sets the registers back to what they were before the call of the function that holds the pc.
// Considers only direct calls whose target begins at most 16 KiB before the pc, leads there by
// jumps (a linkage table), or tail-calls such a function; of several on the stack, takes the one
// whose function begins closest to the pc. A stale return address of another function is not taken;
// one of the same function may be. False, with nothing changed, if there is no such call.
bool leave_by_call_site(const ModuleMap& modules, arch::Registers& registers);

} // namespace jprof::agent::sampling
