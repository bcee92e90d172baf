// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/call_trace.h"

#include "agent/arch/arch.h"
#include "agent/arch/safe_load.h"
#include "agent/sampling/code_cache.h"
#include "agent/sampling/method_frames.h"

#include <cstddef>

namespace jprof::agent::sampling {
namespace {

using wire::ErrorFrame;

// prims/forte.cpp: ASGCT_CallFrame, ASGCT_CallTrace and the error codes in num_frames.
struct CallFrame {
  std::int32_t bytecode_index;
  std::uint64_t method_id;
};
static_assert(sizeof(CallFrame) == 2 * sizeof(wire::Frame));
struct CallTrace {
  std::uint64_t jni_env;
  std::int32_t count;
  CallFrame* frames;
};

ErrorFrame error_of(std::int32_t code) {
  switch (code) {
  case 0:  // no Java frame
  case -3: // native code that was not called from Java
    return ErrorFrame::kNoJavaFrames;
  case -2:
    return ErrorFrame::kGcActive;
  case -4: // the last Java frame of native code
  case -6: // the frames below the interrupted Java code
    return ErrorFrame::kBrokenStack;
  case -5: // the interrupted Java code
    return ErrorFrame::kNotWalkable;
  case -8:
    return ErrorFrame::kThreadExiting;
  case -9:
    return ErrorFrame::kInDeopt;
  default:
    return ErrorFrame::kUnsafeState;
  }
}

// JavaThreadState: a thread that is being created (2, 3) or has no state has nothing to walk.
bool is_walkable(const VmLayout& vm, std::uint64_t java_thread) {
  constexpr std::uint32_t kInNative = 4;
  constexpr std::uint32_t kBlockedInTransition = 11;
  std::uint32_t state = 0;
  return arch::load(java_thread + static_cast<std::uint64_t>(vm.thread.state), &state) &&
         state >= kInNative && state <= kBlockedInTransition;
}

WalkedStack failed(wire::Frame* frames, ErrorFrame error) {
  WalkedStack stack;
  frames[0] = wire::make_frame(wire::FrameKind::kError, static_cast<std::uint64_t>(error));
  stack.depth = 1;
  stack.error = error == ErrorFrame::kNoJavaFrames ? ErrorFrame::kNone : error;
  return stack;
}

} // namespace

WalkedStack walk_by_call_trace(const VmLayout& vm, const NameStore& names,
                               const CallTraceRequest& request) {
  if (request.java_thread == 0) {
    return failed(request.frames, ErrorFrame::kNoJavaFrames);
  }
  if (!is_walkable(vm, request.java_thread)) {
    return failed(request.frames, ErrorFrame::kUnsafeState);
  }
  // HotSpot looks up the blob too, and some releases end the JVM if they dislike what they find, so
  // we do not ask it about a pc that we cannot explain.
  const std::uint64_t pc = arch::read_registers(request.ucontext).pc;
  CodeBlob blob;
  if (vm.contains_code(pc) && !find_blob(vm, pc, &blob)) {
    return failed(request.frames, ErrorFrame::kUnknownBlob);
  }
  // Its frames are twice as large as ours, which overwrite them from the front.
  auto* found = reinterpret_cast<CallFrame*>(request.frames);
  CallTrace trace{.jni_env = request.java_thread + static_cast<std::uint64_t>(vm.env_offset),
                  .count = 0,
                  .frames = found};
  const std::uint32_t most =
      request.max_depth < kMaxScratchDepth / 2 ? request.max_depth : kMaxScratchDepth / 2;
  if (!arch::call_guarded(request.function, &trace, most, request.ucontext, request.guarded_sp)) {
    return failed(request.frames, ErrorFrame::kFault);
  }
  if (trace.count <= 0) {
    return failed(request.frames, error_of(trace.count));
  }
  WalkedStack stack;
  stack.depth = static_cast<std::uint32_t>(trace.count) < most
                    ? static_cast<std::uint32_t>(trace.count)
                    : most;
  if (stack.depth == most) {
    stack.flags = static_cast<std::uint16_t>(wire::StackFlag::kTruncated);
  }
  for (std::uint32_t i = 0; i < stack.depth; ++i) {
    CallFrame frame{};
    __builtin_memcpy(&frame, found + i, sizeof frame);
    const wire::Frame named = name_method_frame(
        vm, names, {.method_id = frame.method_id, .bytecode_index = frame.bytecode_index},
        &stack.unnamed_frames);
    if (wire::frame_kind(named) == wire::FrameKind::kError) {
      stack.error = ErrorFrame::kNoMethod;
    }
    request.frames[i] = named;
  }
  return stack;
}

} // namespace jprof::agent::sampling
