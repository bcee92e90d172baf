// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One step up a stack of C and C++ frames. Signal-safe, any thread.

#include "agent/arch/arch.h"
#include "agent/sampling/module_map.h"

namespace jprof::agent::sampling {

// Moves `registers` to the caller; false if there is none or it cannot be found. `interrupted`: pc
// is where the signal arrived, otherwise a return address.
bool leave_native(const ModuleMap& modules, bool interrupted, arch::Registers& registers);

} // namespace jprof::agent::sampling
