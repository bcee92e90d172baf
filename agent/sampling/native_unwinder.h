// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One step up a stack of C and C++ frames: by the module's call frame information or, if there is
// none (musl's libc), by the frame pointer. Signal-safe, any thread.

#include "agent/arch/arch.h"
#include "agent/sampling/module_map.h"

namespace jprof::agent::sampling {

enum class NativeStep {
  kNone,      // no caller can be found
  kOutermost, // there is none: this is the thread's first frame
  kGuessed,   // by the frame pointer, which the function may have used for something else
  kKnown,
};

// Moves `registers` to the caller. `interrupted`: pc is where the signal arrived, otherwise a
// return address.
NativeStep leave_native(const ModuleMap& modules, bool interrupted, arch::Registers& registers);

} // namespace jprof::agent::sampling
