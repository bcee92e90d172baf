// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// StackWalker's way through the frames that a virtual thread has in the heap (frozen_stack.h).
#include "agent/arch/safe_load.h"
#include "agent/sampling/compiled_method.h"
#include "agent/sampling/stack_walker.h"

#include <atomic>

namespace jprof::agent::sampling {
namespace {

using arch::word_at;
using wire::ErrorFrame;
using wire::FrameKind;

// A stack has as many chunks as it was too long for the ones before.
constexpr unsigned kMostChunks = 64;
// Frozen interpreter frames, words from the frame pointer (cpu/*/frame_*.hpp): where the caller's
// stack pointer was, as a distance from the frame pointer.
constexpr std::uint64_t kSenderSpBytes = 8;
constexpr std::uint64_t kFrameHeadBytes = 16; // saved frame pointer and return address
// The arguments of a chunk's last frame may lie behind it, in the end that belongs to its caller.
constexpr std::uint64_t kMostArgumentBytes = 256 * 8;

} // namespace

// True for the stub in whose care a virtual thread's other frames are: it stands for their return
// address (returnBarrier), and fetches some of them (thaw).
bool StackWalker::is_thaw_stub(const CodeBlob& blob) const {
  constexpr char kStart[] = "StubRoutines (continuation"; // then " stubs)" (21), "stubs)" (25)
  return !in_frozen_ && arch::holds_text(blob.name, sizeof kStart - 1, kStart);
}

// All frames from here to the one that the carrier has called; then goes on as if it had been on
// the stack. What does not fit together is taken back: a collector may have been at work.
bool StackWalker::step_thaw_stub(const CodeBlob& blob) {
  const arch::Registers barrier = at_;
  const std::uint64_t stack_end = stack_end_;
  const std::uint32_t depth = result_.depth;
  in_frozen_ = true;
  const bool whole = frozen_ != nullptr && push_all_frozen();
  at_ = barrier;
  stack_end_ = stack_end;
  if (whole) {
    push_entry();
  } else {
    result_.depth = depth;
    result_.wants_frozen = frozen_ == nullptr;
    note(ErrorFrame::kFrozenFrames);
    push_stub(blob);
  }
  // What has been thawed last may have left any frame pointer. The stub itself finds the entry's
  // frame by the thread; we find its end.
  arch::Registers caller = at_;
  if (arch::leave_by_frame_pointer(caller) && is_caller(caller)) {
    return accept(caller);
  }
  return accept_behind(kFrameHeadBytes, kMostArgumentBytes / 8) || fail(ErrorFrame::kBrokenStack);
}

bool StackWalker::push_all_frozen() {
  const FrozenMoment before = frozen_moment(*frozen_);
  if (before.collections == HeapClock::kCollecting) {
    return false;
  }
  FrozenStack stack;
  FrozenSearch search = first_frozen(*frozen_, java_thread_, &stack);
  if (search != FrozenSearch::kFound) { // the stub stands for one frame at least
    return false;
  }
  for (unsigned i = 0; search == FrozenSearch::kFound; ++i) {
    search = i < kMostChunks && push_frozen(stack) ? next_frozen(*frozen_, &stack)
                                                   : FrozenSearch::kUnreadable;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return search == FrozenSearch::kNone && frozen_moment(*frozen_) == before;
}

// The method whose frame lies below the stub on the stack: the one that the carrier has called.
void StackWalker::push_entry() {
  MethodView entry;
  if (frozen_->entry_method != 0 && read_method(vm_, frozen_->entry_method, &entry)) {
    push_method(FrameKind::kJavaNative, entry, -1);
  }
}

// The frames of one chunk. False if one of them is none.
bool StackWalker::push_frozen(const FrozenStack& stack) {
  at_.sp = stack.sp;
  std::uint64_t compiled_sp = stack.sp; // of a caller that is compiled: without our arguments
  stack_end_ = stack.end;
  while (at_.sp < stack.end) {
    if (result_.depth >= max_depth_) {
      return true;
    }
    at_.pc = word_at(at_.sp - 8);
    CodeBlob blob;
    if (!vm_.contains_code(at_.pc) || !find_blob(vm_, at_.pc, &blob)) {
      return stack.end - at_.sp <= kMostArgumentBytes && at_.sp != stack.sp;
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
  return at_.sp - stack.end <= kMostArgumentBytes;
}

} // namespace jprof::agent::sampling
