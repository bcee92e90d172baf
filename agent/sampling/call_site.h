// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The caller of code of which no table tells, and which keeps no frame pointer: musl is made so.
// Signal-safe.

#include "agent/arch/arch.h"
#include "agent/sampling/module_map.h"

namespace jprof::agent::sampling {

// Takes the registers to where they were before the call of the function that holds the pc. Only
// for a call that names what it calls, and whose function begins at most 16 KiB before the pc, is
// reached by jumps from there (a linkage table), or is called in that one's place; of several on
// the stack, the one whose function begins next to the pc. A stale return address of another
// function is not taken; one of the same function may be. False, and nothing is changed, where
// there is none.
bool leave_by_call_site(const ModuleMap& modules, arch::Registers& registers);

} // namespace jprof::agent::sampling
