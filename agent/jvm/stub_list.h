// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/sampling/stub_names.h"
#include "agent/sampling/vm_layout.h"

namespace jprof::agent::jvm {

// The JVM's own list of its stubs; null if it was not found. Stays valid while the library is
// loaded. Call it while loads are protected and no handler reads the table; agent's thread.
const sampling::StubNames* read_stub_names(const sampling::VmLayout& vm);

} // namespace jprof::agent::jvm
