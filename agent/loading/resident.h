// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which copy of the library stays. A JVM keeps an agent for good, so the first copy that is loaded
// becomes resident (pins itself), and later copies, perhaps of another version, pass their option
// string to it and let themselves be unloaded.

#include <cstdint>

namespace jprof::agent {

// Exported as `jprof_agent_resident_v1`: how a later copy talks to this one. The layout is fixed.
struct Resident {
  std::uint32_t abi;      // 1
  std::uint32_t resident; // 1: this copy is the one that answers
  // Begins the session that the options ask for; the caller's thread is a Java thread with this
  // JNIEnv. Returns what Agent_OnAttach of the resident copy itself would.
  int (*begin)(const char* options, void* jni_env);
};

// The copy that is already resident, if it is not this one.
const Resident* find_other_resident();

// Makes sure that this library is never unmapped and that later copies find this one.
bool become_resident();

bool is_resident();

} // namespace jprof::agent
