// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/sampling/frozen_stack.h"
#include "agent/sampling/vm_layout.h"

#include <cstdint>

namespace jprof::agent::jvm {

// Learns from a thread that runs a virtual one where the frozen frames of all of them lie: libjvm's
// tables do not name these classes, their objects do. False if `java_thread` runs none now, or this
// JVM has none. The agent's thread only, with the session's fault handler installed; takes about a
// millisecond.
bool read_frozen_layout(const sampling::VmLayout& vm, std::uint64_t java_thread,
                        sampling::FrozenLayout* layout);

} // namespace jprof::agent::jvm
