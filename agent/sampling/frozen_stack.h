// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The frames of a mounted virtual thread that the JVM has left in the heap: after a virtual thread
// has waited, it gets its innermost frames back, and the others when those return. Until then they
// are in objects of class jdk.internal.vm.StackChunk, with a stub in their place on the stack (JDK
// 21+, runtime/continuationFreezeThaw.cpp, oops/stackChunkOop.hpp). Signal-safe. A collector may
// move the objects, so nothing read here is trusted until what it leads to has been checked.

#include "agent/sampling/code_cache.h"
#include "agent/sampling/heap_references.h"

#include <cstdint>

namespace jprof::agent::sampling {

// Filled once by jvm/frozen_layout.cpp. Offsets are in the objects of the class.
struct FrozenLayout {
  HeapReferences references;
  HeapClock clock;
  std::int32_t virtual_thread = -1; // in JavaThread: the handle of the virtual thread that it runs
  // In JavaThread: where the frame of the method that is never frozen begins; -1: unknown.
  std::int32_t entry = -1;
  std::int32_t continuation = -1;   // in java.lang.VirtualThread
  std::int32_t tail = -1;           // in jdk.internal.vm.Continuation
  std::int32_t parent = -1;         // in StackChunk, as all below
  std::int32_t size = -1;           // int, words of its stack
  std::int32_t sp = -1;             // int, in words from the stack's first
  std::int32_t bottom = -1;         // int, the same for its end (22+)
  std::int32_t argument_words = -1; // int, at the end, of the last frame's caller (21)
  std::uint64_t stack = 0;          // bytes from the object to its stack
  std::uint64_t entry_method = 0;   // Continuation.enterSpecial, which is never frozen; 0: unknown
};

// One object's frames, innermost at `sp`.
struct FrozenStack {
  std::uint64_t chunk = 0;
  std::uint64_t sp = 0;
  std::uint64_t end = 0;
};

// Must be equal before and after a read, or nothing that was read counts: then no object was moved
// in between. `collections` is HeapClock::kCollecting if nothing can be read now.
struct FrozenMoment {
  std::uint64_t collections = 0;
  std::uint64_t bad_mask = 0;
  bool operator==(const FrozenMoment&) const = default;
};
FrozenMoment frozen_moment(const FrozenLayout& layout);

enum class FrozenSearch {
  kFound,
  kNone,       // there are no more
  kUnreadable, // unknown: a reference on the way is stale, or leads to no such object
};
// True for the stub that handles the frozen frames: it takes the place of their return address on
// the stack (returnBarrier), and fetches them (thaw).
bool is_thaw_stub(const CodeBlob& blob);
// Where the frame of `entry_method` begins on the stack, above everything that can be frozen; 0 if
// the thread runs no virtual thread, or this is unknown.
std::uint64_t continuation_entry(const FrozenLayout& layout, std::uint64_t java_thread);
// The innermost frozen frames of the virtual thread that `java_thread` runs; `entry` is what
// continuation_entry() returned.
FrozenSearch first_frozen(const FrozenLayout& layout, std::uint64_t java_thread,
                          std::uint64_t entry, FrozenStack* stack);
// The frames that called those in `stack`.
FrozenSearch next_frozen(const FrozenLayout& layout, FrozenStack* stack);

} // namespace jprof::agent::sampling
