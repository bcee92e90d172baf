// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names the frames that the JVM's own interfaces report as jmethodIDs, without a call into the JVM.
// Up to JDK 25 a jmethodID points to a slot that holds the Method and that the JVM clears before it
// frees the class (oops/method.cpp, JNIMethodBlock); from 26 on it is a number.

#include "agent/sampling/name_store.h"
#include "agent/sampling/vm_layout.h"
#include "lib/wire/region.h"

#include <cstdint>

namespace jprof::agent::sampling {

inline constexpr std::uint32_t kLastFeatureWithMethodPointers = 25;

// One frame, as jvmtiFrameInfo lays it out.
struct MethodFrame {
  std::uint64_t method_id = 0;
  std::int64_t bytecode_index = 0; // below 0: a native method
};

// Returns an error frame if the method is gone or never had an id. `unnamed` counts frames whose
// name did not fit. Signal-safe, any thread.
wire::Frame name_method_frame(const VmLayout& vm, const NameStore& names, const MethodFrame& frame,
                              std::uint32_t* unnamed);

} // namespace jprof::agent::sampling
