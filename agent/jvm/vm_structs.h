// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the tables in which libjvm describes its own data structures (runtime/vmStructs.hpp:
// gHotSpotVMStructs, gHotSpotVMTypes, gHotSpotVMIntConstants; exported by every HotSpot from 8 to
// 25) into what the stack walker needs. Runs once per session on the agent's thread; calls nothing
// of the JVM.

#include "agent/sampling/vm_layout.h"

#include <cstddef>
#include <cstdint>

namespace jprof::agent::jvm {

enum class LayoutError {
  kNone,
  kNoTables,     // no libjvm with these tables in this process
  kMissingField, // the tables lack something; `missing` names it
};

// Fills `layout`, except for how a thread finds its JavaThread (java_thread.h).
LayoutError read_layout(sampling::VmLayout* layout, const char** missing);

// The JVM's own version, e.g. "17.0.9+9"; writes at most `bytes`, NUL-terminated.
void read_vm_version(char* to, std::size_t bytes);

} // namespace jprof::agent::jvm
