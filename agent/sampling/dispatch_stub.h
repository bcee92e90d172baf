// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The stubs by which compiled code calls a method of a class (vtable) or of an interface (itable)
// when it has met too many classes there. All lie in blobs named "vtable chunks". Signal-safe.

#include "agent/sampling/code_cache.h"
#include "agent/sampling/vm_layout.h"

#include <cstdint>

namespace jprof::agent::sampling {

// What kind of these the stub around `pc` is; null if `pc` is in none, or it cannot be told.
const char* dispatch_stub_name(const VmLayout& vm, const CodeBlob& blob, std::uint64_t pc);

} // namespace jprof::agent::sampling
