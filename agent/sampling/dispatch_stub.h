// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The stubs through which compiled code calls a method of a class (vtable) or of an interface
// (itable) once a call site has met too many classes. All lie in blobs named "vtable chunks".
// Signal-safe.

#include "agent/sampling/code_cache.h"
#include "agent/sampling/vm_layout.h"

#include <cstdint>

namespace jprof::agent::sampling {

// The kind of the stub around `pc`; null if `pc` is in none, or the kind is unknown.
const char* dispatch_stub_name(const VmLayout& vm, const CodeBlob& blob, std::uint64_t pc);

} // namespace jprof::agent::sampling
