// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// How StackWalker walks the frames that a virtual thread has in the heap (frozen_stack.h).
#include "agent/arch/safe_load.h"
#include "agent/sampling/compiled_method.h"
#include "agent/sampling/stack_walker.h"

#include <atomic>

namespace jprof::agent::sampling {
namespace {

using arch::word_at;
using wire::ErrorFrame;
using wire::FrameKind;

// A stack gets another chunk each time it outgrows the ones before.
constexpr unsigned kMaxChunks = 64;
// Frozen interpreter frames, words from the frame pointer (cpu/*/frame_*.hpp): where the caller's
// stack pointer was, relative to the frame pointer.
constexpr std::uint64_t kSenderSpBytes = 8;
constexpr std::uint64_t kFrameHeadBytes = 16; // saved frame pointer and return address
// The arguments of a chunk's last frame may follow it, in the part at the end that belongs to its
// caller.
constexpr std::uint64_t kMaxArgumentBytes = 256 * 8;

} // namespace

bool StackWalker::is_thaw_stub(const CodeBlob& blob) const {
  return !in_frozen_ && sampling::is_thaw_stub(blob);
}

// Pushes all frames from here to the one that the carrier has called, then continues as if they had
// been on the stack. If they do not fit together, removes them again: a collector may have been at
// work.
bool StackWalker::step_thaw_stub(const CodeBlob& blob) {
  if (interrupted_) {
    push_stub(blob);
    switch (arch::state_in_thaw_stub(at_.pc)) {
    case arch::ThawState::kBefore:
      break;
    case arch::ThawState::kMoving: // what was in the heap is not at the stack pointer yet
      note(ErrorFrame::kFrozenFrames);
      in_frozen_ = true;
      return leave_entry();
    case arch::ThawState::kAfter: {
      arch::Registers thawed = at_;
      return (arch::leave_thaw_stub(thawed) && is_caller(thawed) && accept(thawed)) ||
             fail(ErrorFrame::kBrokenStack);
    }
    }
  }
  if (!push_frozen_frames() && !interrupted_) {
    push_stub(blob);
  }
  return leave_entry();
}

// True if the frame that begins here may extend past the one after the frozen ones.
bool StackWalker::reaches_entry(std::uint64_t frame_bytes) const {
  return !in_frozen_ && entry_ != 0 && at_.sp <= entry_ && at_.sp + frame_bytes > entry_;
}

// True at the frame of a method that has called what is below it on the stack, but is itself in the
// heap: while freezing frames, the JVM replaces its stub's return address with the real one
// (freeze_fast_existing_chunk).
bool StackWalker::is_above_entry(const CodeBlob& blob) const {
  CompiledMethod compiled;
  return !interrupted_ && reaches_entry(blob.frame_bytes) && entry_ - at_.sp <= kMaxArgumentBytes &&
         frozen_->entry_method != 0 && read_compiled_method(vm_, blob, &compiled) &&
         compiled.method != frozen_->entry_method;
}

bool StackWalker::step_above_entry() {
  push_frozen_frames();
  return leave_entry();
}

// If they cannot be read, returns false and leaves an error frame in their place.
bool StackWalker::push_frozen_frames() {
  const arch::Registers barrier = at_;
  const std::uint64_t stack_end = stack_end_;
  const std::uint32_t depth = result_.depth;
  in_frozen_ = true;
  const bool whole = frozen_ != nullptr && push_all_frozen();
  at_ = barrier;
  stack_end_ = stack_end;
  if (whole) {
    push_entry();
    return true;
  }
  result_.depth = depth;
  note(ErrorFrame::kFrozenFrames);
  return false;
}

// Finds the carrier's frame that has called the method below the frozen ones: the first word after
// them that can be its return address. The frame pointer says nothing here, because the last thawed
// frame may have left any value. If the thread says where the method's frame begins, it begins with
// the JVM's record of it (ContinuationEntry), which is all in use, so no older return address is in
// between.
bool StackWalker::leave_entry() {
  if (entry_ > at_.sp) {
    at_.sp = entry_;
  }
  return accept_behind(kFrameHeadBytes, kMaxArgumentBytes / 8, Fit::kPerhaps) ||
         fail(ErrorFrame::kBrokenStack);
}

bool StackWalker::push_all_frozen() {
  const FrozenMoment before = frozen_moment(*frozen_);
  if (before.collections == HeapClock::kCollecting) {
    return false;
  }
  FrozenStack stack;
  FrozenSearch search = first_frozen(*frozen_, java_thread_, entry_, &stack);
  if (search != FrozenSearch::kFound) { // the stub stands for one frame at least
    return false;
  }
  // The frames on the stack are already in the heap, where the thread is about to leave them: start
  // from what called the native method that freezes them.
  if (native_caller_ != 0 && word_at(stack.sp - 8) == native_caller_) {
    result_.depth = native_depth_;
  }
  for (unsigned i = 0; search == FrozenSearch::kFound; ++i) {
    search = i < kMaxChunks && push_frozen(stack) ? next_frozen(*frozen_, &stack)
                                                  : FrozenSearch::kUnreadable;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return search == FrozenSearch::kNone && frozen_moment(*frozen_) == before;
}

// Pushes the method whose frame is below the stub on the stack: the one that the carrier has
// called.
void StackWalker::push_entry() {
  MethodView entry;
  if (frozen_->entry_method != 0 && read_method(vm_, frozen_->entry_method, &entry)) {
    push_method(FrameKind::kJavaNative, entry, -1);
  }
}

// Pushes the frames of one chunk. False if one of them is not a frame.
bool StackWalker::push_frozen(const FrozenStack& stack) {
  at_.sp = stack.sp;
  std::uint64_t compiled_sp = stack.sp; // of a compiled caller: without our arguments
  stack_end_ = stack.end;
  while (at_.sp < stack.end) {
    if (result_.depth >= max_depth_) {
      return true;
    }
    at_.pc = word_at(at_.sp - 8);
    CachedFrames cached;
    if (find_cached(at_.pc, &cached) && push_cached(cached)) {
      compiled_sp += cached.frame_bytes;
      at_.sp = compiled_sp;
      continue;
    }
    CodeBlob blob;
    if (!vm_.contains_code(at_.pc) || !find_blob(vm_, at_.pc, &blob)) {
      return stack.end - at_.sp <= kMaxArgumentBytes && at_.sp != stack.sp;
    }
    if (blob.kind == BlobKind::kCompiled) {
      original_pc(vm_, blob, compiled_sp, &at_.pc);
      if (blob.frame_bytes < kFrameHeadBytes || !is_call_return(at_.pc)) {
        return false;
      }
      push_scopes(blob);
      compiled_sp += blob.frame_bytes;
      at_.sp = compiled_sp;
      continue;
    }
    const std::uint64_t place = at_.sp - kFrameHeadBytes;
    at_.fp = place + word_at(place) * 8;
    MethodView method;
    if (blob.kind != BlobKind::kInterpreter || !read_interpreter_frame(at_, &method)) {
      return false;
    }
    push_method(method.is_native ? FrameKind::kJavaNative : FrameKind::kInterpreted, method,
                method.is_native ? -1 : interpreted_bci(method));
    compiled_sp = at_.fp + word_at(at_.fp - kSenderSpBytes) * 8;
    at_.sp = at_.fp + kFrameHeadBytes;
    if (compiled_sp < at_.sp || compiled_sp > stack.end) {
      compiled_sp = at_.sp;
    }
  }
  return at_.sp - stack.end <= kMaxArgumentBytes;
}

} // namespace jprof::agent::sampling
