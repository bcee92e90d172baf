// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/sampling/frozen_stack.h"
#include "agent/sampling/vm_layout.h"

#include <cstdint>

namespace jprof::agent::jvm {

// Where the frozen frames of virtual threads are, from the classes of the objects that hold them.
// Null if this JVM has none; otherwise valid while the library is loaded. Read once. The agent's
// thread only, with the session's fault handler installed; takes less than a millisecond.
const sampling::FrozenLayout* read_frozen_layout(const sampling::VmLayout& vm);

} // namespace jprof::agent::jvm
