// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the code cache holds at this moment.

#include "agent/sampling/vm_layout.h"

#include <cstdint>

namespace jprof::agent::jvm {

// Calls `visit` with the compile id of each existing nmethod; false, and no call, if this JVM does
// not say where the ids are. The JVM keeps compiling meanwhile. Agent's thread, while loads are
// protected.
bool visit_compile_ids(const sampling::VmLayout& vm, void (*visit)(std::uint32_t id, void* context),
                       void* context);

} // namespace jprof::agent::jvm
