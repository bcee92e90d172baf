// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The frames of a mounted virtual thread that the JVM has left in the heap: after a virtual thread
// has waited, it gets its innermost frames back, and the others when these return. Until then they
// lie in objects of class jdk.internal.vm.StackChunk, with a stub in their place on the stack
// (JDK 21+, runtime/continuationFreezeThaw.cpp, oops/stackChunkOop.hpp). Signal-safe. A collector
// may move the objects, so nothing read here is believed without a look at what it leads to.

#include "agent/sampling/code_cache.h"
#include "agent/sampling/heap_references.h"

#include <cstdint>

namespace jprof::agent::sampling {

// Filled once by jvm/frozen_layout.cpp. Offsets are in the objects of the class.
struct FrozenLayout {
  HeapReferences references;
  HeapClock clock;
  std::int32_t virtual_thread = -1; // in JavaThread: the handle of what it runs
  // In JavaThread: where the frame begins of the method that is never frozen; -1: unknown.
  std::int32_t entry = -1;
  std::int32_t continuation = -1;   // in java.lang.VirtualThread
  std::int32_t tail = -1;           // in jdk.internal.vm.Continuation
  std::int32_t parent = -1;         // in StackChunk, as all below
  std::int32_t size = -1;           // int, words of its stack
  std::int32_t sp = -1;             // int, in words from the stack's first
  std::int32_t bottom = -1;         // int, the same of its end (22+)
  std::int32_t argument_words = -1; // int, in the end, of the last frame's caller (21)
  std::uint64_t stack = 0;          // bytes from the object to its stack
  std::uint64_t entry_method = 0;   // Continuation.enterSpecial, which is never frozen; 0: unknown
};

// One object's frames, innermost at `sp`.
struct FrozenStack {
  std::uint64_t chunk = 0;
  std::uint64_t sp = 0;
  std::uint64_t end = 0;
};

// What must be equal before and after, or nothing that was read counts: no object has been moved
// between. `collections` is HeapClock::kCollecting where nothing can be read now.
struct FrozenMoment {
  std::uint64_t collections = 0;
  std::uint64_t bad_mask = 0;
  bool operator==(const FrozenMoment&) const = default;
};
FrozenMoment frozen_moment(const FrozenLayout& layout);

enum class FrozenSearch {
  kFound,
  kNone,       // there are no more
  kUnreadable, // nobody knows: a reference on the way is stale, or leads to no such object
};
// True for the stub in whose care the frozen frames are: it stands for their return address on the
// stack (returnBarrier), and fetches them (thaw).
bool is_thaw_stub(const CodeBlob& blob);
// Where the frame of `entry_method` begins on the stack, above all that can be frozen; 0 where the
// thread runs no virtual one, or nobody knows.
std::uint64_t continuation_entry(const FrozenLayout& layout, std::uint64_t java_thread);
// The innermost frozen frames of the virtual thread that `java_thread` runs; `entry` is what
// continuation_entry() says.
FrozenSearch first_frozen(const FrozenLayout& layout, std::uint64_t java_thread,
                          std::uint64_t entry, FrozenStack* stack);
// Those that called what is in `stack`.
FrozenSearch next_frozen(const FrozenLayout& layout, FrozenStack* stack);

} // namespace jprof::agent::sampling
