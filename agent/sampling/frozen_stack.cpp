// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/frozen_stack.h"

namespace jprof::agent::sampling {
namespace {

using arch::load;
using arch::word_at;

constexpr std::int32_t kMaxWords = 1 << 24; // 128 MiB of stack
constexpr unsigned kMaxEmptyChunks = 16;
// Offset in a ContinuationEntry of the reference to the Continuation
// (runtime/continuationEntry.hpp, 21 to 25: after the parent entry, which is aligned after an empty
// structure).
constexpr std::uint64_t kContinuation = 16;

std::uint64_t field(std::uint64_t object, std::int32_t offset) {
  return object + static_cast<std::uint64_t>(offset);
}

bool read_int(std::uint64_t object, std::int32_t offset, std::int32_t* value) {
  std::uint32_t bits = 0;
  const bool there = load(field(object, offset), &bits);
  *value = static_cast<std::int32_t>(bits);
  return there;
}

// False if it is not a chunk. An empty chunk has its sp at its end.
bool read_chunk(const FrozenLayout& layout, std::uint64_t chunk, FrozenStack* stack) {
  std::int32_t size = 0;
  std::int32_t sp = 0;
  std::int32_t end = 0;
  if (chunk == 0 || (chunk & 7) != 0 || !read_int(chunk, layout.size, &size) ||
      !read_int(chunk, layout.sp, &sp)) {
    return false;
  }
  if (layout.bottom >= 0) {
    read_int(chunk, layout.bottom, &end);
  } else {
    read_int(chunk, layout.argument_words, &end);
    end = size - end;
  }
  if (size <= 0 || size > kMaxWords || sp < 0 || sp > size || end < 0 || end > size) {
    return false;
  }
  const std::uint64_t begin = chunk + layout.stack;
  *stack = {chunk, begin + static_cast<std::uint64_t>(sp) * 8,
            begin + static_cast<std::uint64_t>(end) * 8};
  return true;
}

// The first chunk that holds frames, starting with the one that a field of `object` refers to.
FrozenSearch find_frames(const FrozenLayout& layout, std::uint64_t object, std::int32_t offset,
                         FrozenStack* stack) {
  for (unsigned i = 0; i < kMaxEmptyChunks; ++i) {
    if (layout.references.at(object, offset) == 0) {
      return FrozenSearch::kNone;
    }
    const std::uint64_t chunk = layout.references.current_at(object, offset);
    if (!read_chunk(layout, chunk, stack)) {
      return FrozenSearch::kUnreadable;
    }
    if (stack->sp < stack->end) {
      return FrozenSearch::kFound;
    }
    object = chunk;
    offset = layout.parent;
  }
  return FrozenSearch::kUnreadable;
}

} // namespace

FrozenMoment frozen_moment(const FrozenLayout& layout) {
  const std::uint64_t mask = layout.references.bad_mask;
  return {layout.clock.now(), mask != 0 ? word_at(mask) : 0};
}

bool is_thaw_stub(const CodeBlob& blob) {
  constexpr char kStart[] = "StubRoutines (continuation"; // then " stubs)" (21), "stubs)" (25)
  return arch::holds_text(blob.name, sizeof kStart - 1, kStart);
}

std::uint64_t continuation_entry(const FrozenLayout& layout, std::uint64_t java_thread) {
  const std::uint64_t entry = layout.entry >= 0 ? word_at(field(java_thread, layout.entry)) : 0;
  return (entry & 7) == 0 ? entry : 0;
}

FrozenSearch first_frozen(const FrozenLayout& layout, std::uint64_t java_thread,
                          std::uint64_t entry, FrozenStack* stack) {
  const HeapReferences& references = layout.references;
  // Use what the JVM notes on the stack, because a virtual thread sometimes acts as its carrier,
  // for example while it schedules its own wake-up. The ZGC that keeps marks in pointers keeps none
  // in those on the stack. A stale one leads to where the object was, whose own references are
  // stale too.
  if (entry != 0) {
    const std::uint64_t raw = word_at(entry + kContinuation);
    const std::uint64_t continuation = references.coloured ? raw : references.decode_current(raw);
    if (find_frames(layout, continuation, layout.tail, stack) == FrozenSearch::kFound) {
      return FrozenSearch::kFound;
    }
  }
  const std::uint64_t handle = word_at(field(java_thread, layout.virtual_thread));
  const std::uint64_t thread = handle != 0 ? references.decode_current(word_at(handle)) : 0;
  const std::uint64_t continuation = references.current_at(thread, layout.continuation);
  return continuation == 0 ? FrozenSearch::kUnreadable
                           : find_frames(layout, continuation, layout.tail, stack);
}

FrozenSearch next_frozen(const FrozenLayout& layout, FrozenStack* stack) {
  return find_frames(layout, stack->chunk, layout.parent, stack);
}

} // namespace jprof::agent::sampling
