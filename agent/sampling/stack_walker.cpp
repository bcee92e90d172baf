// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/stack_walker.h"

#include "agent/arch/safe_load.h"
#include "agent/sampling/compiled_method.h"
#include "agent/sampling/native_unwinder.h"

namespace jprof::agent::sampling {
namespace {

using arch::load;
using arch::word_at;
using wire::ErrorFrame;
using wire::FrameKind;

constexpr std::uint32_t kInJava = 8; // JavaThreadState::_thread_in_Java, the same in 8 to 25
// Interpreter frames, words from the frame pointer (cpu/*/frame_*.hpp). The same on both CPUs and
// in all releases, except for the bytecode pointer, which moved twice: we look in all three places.
constexpr std::int64_t kSenderSpWords = -1;
constexpr std::int64_t kMethodWords = -3;
constexpr std::int64_t kBytecodePointerWords[] = {-8, -7, -9};
constexpr std::uint64_t kMaxInterpretedFrameBytes = 1U << 20;
constexpr std::uint64_t kMaxScannedWords = 256;
// What may be below a compiled frame: words that an instruction sequence pushes for a moment (one,
// to compare strings), and registers saved around the call of a leaf. JDK 8 saves all registers
// around x87 mathematics: 16 of 8 bytes, 16 of 32, and arguments (macroAssembler_x86.cpp,
// fp_runtime_fallback). The farther we look, the more often a caller's caller is mistaken for the
// caller.
constexpr std::uint64_t kMaxPushedWords = 8;
constexpr std::uint64_t kMaxSavedWords = 128;
constexpr std::uint32_t kLastWithX87 = 8; // release
constexpr std::uint32_t kMaxInlining = 512;

std::uint64_t words_from(std::uint64_t base, std::int64_t words) {
  return base + static_cast<std::uint64_t>(words * 8);
}
std::uint64_t field(std::uint64_t object, std::int32_t offset) {
  return object + static_cast<std::uint64_t>(offset);
}

} // namespace

WalkedStack StackWalker::walk(const arch::Registers& at, std::uint64_t java_thread,
                              std::uint64_t ucontext) {
  at_ = at;
  java_thread_ = java_thread;
  if (java_thread != 0) {
    const ThreadLayout& thread = vm_.thread;
    anchor_ = read_anchor(java_thread, thread.anchor_sp, thread.anchor_pc, thread.anchor_fp);
    std::uint32_t state = 0;
    in_java_ = load(field(java_thread, thread.state), &state) && state == kInJava;
    const std::uint64_t base = word_at(field(java_thread, thread.stack_base));
    stack_end_ = base > at.sp ? base : stack_end_;
    const std::uint64_t entry = frozen_ != nullptr ? continuation_entry(*frozen_, java_thread) : 0;
    entry_ = entry >= at.sp && entry < stack_end_ ? entry : 0;
  }
  if (const std::uint64_t context = arch::entered_handler_context(at); context != 0) {
    // Another signal of the same tick, which has not used any time yet.
    ucontext = resume_interrupted(context) ? context : ucontext;
  }
  push_kernel(ucontext);
  while (step()) {
    if (result_.depth >= max_depth_) {
      result_.flags |= static_cast<std::uint16_t>(wire::StackFlag::kTruncated);
      break;
    }
  }
  return result_;
}

void StackWalker::push_kernel(std::uint64_t ucontext) {
  if (ucontext != 0 && arch::returns_from_page_fault(ucontext)) {
    push(wire::make_kernel_frame(wire::KernelFrame::kPageFault));
  } else if (arch::follows_system_call(at_.pc) && !vm_.contains_code(at_.pc)) {
    push(wire::make_kernel_frame(wire::KernelFrame::kSystemCall));
  }
}

bool StackWalker::step() {
  return vm_.contains_code(at_.pc) ? step_generated() : step_native();
}

// Continues where a signal arrived.
bool StackWalker::resume_interrupted(std::uint64_t context) {
  arch::Registers before;
  if (!arch::load_registers(context, &before) || before.sp <= at_.sp || before.sp > stack_end_) {
    return false;
  }
  at_ = before;
  interrupted_ = true;
  innermost_ = true;
  return true;
}

bool StackWalker::step_native() {
  if (const std::uint64_t context = interrupted_ ? 0 : arch::interrupted_context(at_);
      context != 0) {
    return resume_interrupted(context) || fail(ErrorFrame::kBrokenStack);
  }
  push(wire::make_frame(FrameKind::kNative, interrupted_ ? at_.pc : at_.pc - 1));
  result_.unknown_module |= modules_.find(at_.pc) == nullptr;
  arch::Registers caller = at_;
  const NativeStep step = leave_native(modules_, interrupted_, caller);
  const bool found = step != NativeStep::kNone && step != NativeStep::kOutermost &&
                     has_grown(caller) && caller.sp < stack_end_ &&
                     (vm_.contains_code(caller.pc) || modules_.find(caller.pc) != nullptr);
  if (anchor_.sp > at_.sp && (!found || caller.sp > anchor_.sp)) {
    return resume_at_anchor(); // the unwinder lost the Java frames below: rely on the JVM
  }
  // A guess can skip Java frames if Java code has called a leaf that has no frame.
  const bool sure = step == NativeStep::kKnown || !interrupted_ || !in_java_;
  if (found && (sure || (is_call_return(caller.pc) && !calls_method(caller.pc)))) {
    return accept(caller);
  }
  if (in_java_ && interrupted_) {
    return find_java_caller() || (found && accept(caller)) || fail(ErrorFrame::kNotWalkable);
  }
  return step != NativeStep::kOutermost && fail(ErrorFrame::kBrokenStack);
}

bool StackWalker::step_generated() {
  CodeBlob blob;
  bool left = false;
  if (!interrupted_ && step_cached(&left)) {
    return left;
  }
  if (!find_blob(vm_, at_.pc, &blob)) {
    return fail(ErrorFrame::kUnknownBlob);
  }
  switch (blob.kind) {
  case BlobKind::kInterpreter:
    return step_interpreted(blob);
  case BlobKind::kCompiled:
    return step_compiled(blob);
  case BlobKind::kStub:
    return step_stub(blob);
  }
  return false;
}

// True if `registers` are in an interpreter frame whose method has already been stored where it
// belongs.
bool StackWalker::read_interpreter_frame(const arch::Registers& registers,
                                         MethodView* method) const {
  constexpr std::uint64_t kHeadBytes = -kMethodWords * 8;
  const std::uint64_t fp = registers.fp;
  return fp >= registers.sp + kHeadBytes && fp - registers.sp < kMaxInterpretedFrameBytes &&
         (fp & 7) == 0 && fp < stack_end_ &&
         read_method(vm_, word_at(words_from(fp, kMethodWords)), method);
}

bool StackWalker::step_interpreted(const CodeBlob& blob) {
  const std::uint64_t fp = at_.fp;
  MethodView method;
  innermost_ = false;
  if (!read_interpreter_frame(at_, &method)) {
    push_stub(blob); // on its way into or out of a method, or an entry that makes no frame
    return leave_method_entry(SenderSp::kSet) || (interrupted_ && find_java_caller()) ||
           fail(ErrorFrame::kNoMethod);
  }
  push_method(method.is_native ? FrameKind::kJavaNative : FrameKind::kInterpreted, method,
              method.is_native ? -1 : interpreted_bci(method));
  arch::Registers caller = at_;
  if (!arch::leave_by_frame_pointer(caller)) {
    return fail(ErrorFrame::kFault);
  }
  // A compiled caller's frame ends where the stack pointer was before its arguments were laid out
  // for us.
  const std::uint64_t sender_sp = word_at(words_from(fp, kSenderSpWords));
  if (sender_sp > fp && sender_sp < stack_end_ && sender_sp - fp < kMaxInterpretedFrameBytes) {
    caller.sp = sender_sp;
  }
  return accept(caller);
}

bool StackWalker::step_compiled(const CodeBlob& blob) {
  const bool deoptimised = !interrupted_ && original_pc(vm_, blob, at_.sp, &at_.pc);
  if (is_above_entry(blob)) {
    return step_above_entry();
  }
  const std::uint32_t id = compile_id(blob.address);
  const std::uint32_t depth = result_.depth;
  const bool native = push_scopes(blob);
  note_age(id, native);
  if (!interrupted_ && !deoptimised) {
    keep_frames(blob, id, depth, native);
  }
  return leave_compiled(blob, native);
}

bool StackWalker::step_entry_frame() {
  const std::uint64_t wrapper = word_at(words_from(at_.fp, vm_.entry_wrapper_words));
  const std::uint64_t saved = field(wrapper, vm_.wrapper_anchor);
  anchor_ = wrapper != 0 ? read_anchor(saved, vm_.anchor_in_wrapper_sp, vm_.anchor_in_wrapper_pc,
                                       vm_.anchor_in_wrapper_fp)
                         : Anchor{};
  arch::Registers caller = at_;
  if (at_.fp >= at_.sp && arch::leave_by_frame_pointer(caller) && accept(caller)) {
    return true;
  }
  return anchor_.sp > at_.sp ? resume_at_anchor() : fail(ErrorFrame::kBrokenStack);
}

bool StackWalker::leave_frame_of(const CodeBlob& blob) {
  arch::Registers caller = at_;
  const arch::FixedFrameCode code{blob.code_begin, blob.frame_complete, blob.frame_bytes};
  const bool left = blob.frame_bytes >= 16 ? arch::leave_fixed_frame(code, interrupted_, caller)
                                           : arch::leave_frameless(caller);
  if (!left) {
    return fail(ErrorFrame::kFault);
  }
  const bool innermost = innermost_;
  innermost_ = false;
  if (!innermost || !(interrupted_ || in_java_)) { // a call that the compiler made a frame for
    return vm_.contains_code(caller.pc) || modules_.find(caller.pc) != nullptr
               ? accept(caller)
               : fail(ErrorFrame::kBrokenStack);
  }
  leaf_ = blob.kind == BlobKind::kCompiled ? blob : CodeBlob{};
  const bool accepted = accept_caller_of_leaf(blob, caller);
  leaf_ = CodeBlob{};
  return accepted;
}

// Continues in the caller of the leaf's code. `caller` is what the frame's size says; but words
// that the frame has not written yet may be older return addresses, and the frame may begin higher.
bool StackWalker::accept_caller_of_leaf(const CodeBlob& blob, const arch::Registers& caller) {
  const Fit fit = fit_of(caller);
  const bool whole = caller.sp - at_.sp == blob.frame_bytes;
  if (fit == Fit::kSure || (fit == Fit::kPerhaps && !whole)) {
    return accept(caller);
  }
  if (interrupted_ && leave_above_saved_sp(blob)) {
    return true;
  }
  // Some instruction sequences lower the stack pointer for a moment, or to call a leaf.
  const bool saved = !interrupted_ || vm_.java_feature <= kLastWithX87;
  const std::uint64_t most = saved ? kMaxSavedWords : kMaxPushedWords;
  if (accept_behind(blob.frame_bytes + 8, most, Fit::kSure)) {
    return true;
  }
  // A replaced return address does not follow a call: C1's exception stubs return to a handler.
  if (fit == Fit::kPerhaps || has_compiled_frame(caller)) {
    return accept(caller);
  }
  return accept_behind(blob.frame_bytes + 8, most, Fit::kPerhaps) ||
         (blob.kind == BlobKind::kStub && vm_.contains_code(caller.pc) && accept(caller)) ||
         find_java_caller() || fail(ErrorFrame::kBrokenStack);
}

// To search strings, C2's code copies short ones onto the stack: it moves the stack pointer and
// saves the old value on top (macroAssembler_x86.cpp, string_indexof).
bool StackWalker::leave_above_saved_sp(const CodeBlob& blob) {
  constexpr std::uint64_t kMaxCopiedBytes = 128;
  CompiledMethod compiled;
  std::uint64_t sp = 0;
  if (!load(at_.sp, &sp) || sp <= at_.sp || sp - at_.sp > kMaxCopiedBytes || (sp & 7) != 0 ||
      !read_compiled_method(vm_, blob, &compiled) || !compiled.optimised) {
    return false;
  }
  arch::Registers caller = at_;
  caller.sp = sp;
  return arch::leave_fixed_frame({0, 0, blob.frame_bytes}, false, caller) && is_caller(caller) &&
         accept(caller);
}

bool StackWalker::has_grown(const arch::Registers& caller) const {
  return caller.sp > at_.sp || (interrupted_ && caller.sp == at_.sp);
}

// Continues in the first caller that fits a frame of `bytes`, or of some words more.
bool StackWalker::accept_behind(std::uint64_t bytes, std::uint64_t max_words, Fit least) {
  for (std::uint64_t words = 0; words < max_words; ++words) {
    const arch::FixedFrameCode frame{0, 0, bytes + words * 8};
    arch::Registers caller = at_;
    if (arch::leave_fixed_frame(frame, false, caller) && fit_of(caller) >= least) {
      return accept(caller);
    }
  }
  return false;
}

// Continues in `caller` if its stack pointer has grown and is within the stack.
bool StackWalker::accept(const arch::Registers& caller) {
  if (!has_grown(caller) || caller.sp > stack_end_ || (caller.sp & 7) != 0 || caller.pc == 0) {
    return fail(ErrorFrame::kBrokenStack);
  }
  const std::uint64_t bcp = at_.bcp;
  at_ = caller;
  at_.bcp = bcp;
  at_.lr = 0;
  interrupted_ = false;
  return true;
}

// Like accept(), but only if the caller is certainly Java code; adds no error frame if it is not.
bool StackWalker::accept_from_leaf(const arch::Registers& caller) {
  return is_call_return(caller.pc) && caller.sp <= stack_end_ && accept(caller);
}

// The last resort. If the thread has left Java code, the JVM knows where. If not, this is a leaf
// without unwind data that Java code called directly: its caller is the first word on the stack
// that is certainly a return address into Java code.
bool StackWalker::find_java_caller() {
  if (!in_java_) {
    return anchor_.sp > at_.sp && resume_at_anchor();
  }
  const bool native = !vm_.contains_code(at_.pc);
  for (std::uint64_t i = 0; i < kMaxScannedWords; ++i) {
    const std::uint64_t slot = at_.sp + i * 8;
    std::uint64_t pc = 0;
    if (slot + 8 > stack_end_ || !load(slot, &pc)) {
      return false;
    }
    if (!is_call_return(pc, Interpreted::kOnlyCalls) || (native && calls_method(pc))) {
      continue;
    }
    arch::Registers caller = at_;
    caller.pc = pc;
    caller.sp = slot + 8;
    if (!arch::kCallPushesReturnAddress) { // it may have been pushed among others
      skip_pushed_registers(caller);
    }
    return accept(caller);
  }
  return false;
}

bool StackWalker::resume_at_anchor() {
  arch::Registers java = at_;
  java.sp = anchor_.sp;
  java.fp = anchor_.fp;
  // The interpreter leaves pc empty; the call that left Java has pushed it (cpu/x86,
  // set_last_Java).
  java.pc = anchor_.pc != 0 ? anchor_.pc : word_at(anchor_.sp - 8);
  anchor_ = Anchor{};
  return vm_.contains_code(java.pc) ? accept(java) : fail(ErrorFrame::kBrokenStack);
}

// An error frame marks where frames are missing; the first one says why the stack is incomplete.
void StackWalker::note(ErrorFrame error) {
  if (result_.error == ErrorFrame::kNone) {
    result_.error = error;
    push(wire::make_frame(FrameKind::kError, static_cast<std::uint64_t>(error)));
  }
}

bool StackWalker::fail(ErrorFrame error) {
  note(error);
  return false;
}

StackWalker::Anchor StackWalker::read_anchor(std::uint64_t object, std::int32_t sp, std::int32_t pc,
                                             std::int32_t fp) const {
  Anchor anchor;
  if (!load(field(object, sp), &anchor.sp) || !load(field(object, pc), &anchor.pc) ||
      !load(field(object, fp), &anchor.fp) || (anchor.sp & 7) != 0) {
    return Anchor{};
  }
  return anchor;
}

std::int32_t StackWalker::interpreted_bci(const MethodView& method) const {
  const auto bci_of = [&](std::uint64_t bcp) {
    return bcp >= method.bytecodes && bcp < method.bytecodes + method.bytecode_bytes
               ? static_cast<std::int32_t>(bcp - method.bytecodes)
               : -1;
  };
  if (interrupted_) { // the copy in the frame is stale while the method runs
    if (const std::int32_t bci = bci_of(at_.bcp); bci >= 0) {
      return bci;
    }
  }
  for (const std::int64_t words : kBytecodePointerWords) {
    if (const std::int32_t bci = bci_of(word_at(words_from(at_.fp, words))); bci >= 0) {
      return bci;
    }
  }
  return -1;
}

void StackWalker::push(wire::Frame frame) {
  if (result_.depth < max_depth_) {
    frames_[result_.depth++] = frame;
  }
}

void StackWalker::push_method(FrameKind kind, const MethodView& method, std::int32_t bci) {
  const std::uint32_t name = names_.put(method.text);
  result_.unnamed_frames += name == 0 ? 1 : 0;
  push(
      wire::make_java_frame(kind, bci >= 0 ? static_cast<std::uint64_t>(bci) : wire::kNoBci, name));
}

// True for a native method.
bool StackWalker::push_scopes(const CodeBlob& blob) {
  CompiledMethod compiled;
  MethodView method;
  if (!read_compiled_method(vm_, blob, &compiled) || !read_method(vm_, compiled.method, &method)) {
    push(wire::make_frame(FrameKind::kError, static_cast<std::uint64_t>(ErrorFrame::kNoMethod)));
    return false;
  }
  const FrameKind physical = compiled.optimised ? FrameKind::kC2 : FrameKind::kC1;
  Scope scope;
  if (method.is_native || !innermost_scope(vm_, compiled, at_.pc, &scope)) {
    push_method(method.is_native ? FrameKind::kJavaNative : physical, method, -1);
    return method.is_native;
  }
  for (std::uint32_t i = 0; i < kMaxInlining; ++i) {
    MethodView inlined;
    if (!read_method(vm_, scope.method, &inlined)) {
      push(wire::make_frame(FrameKind::kError, static_cast<std::uint64_t>(ErrorFrame::kNoMethod)));
      break;
    }
    push_method(scope.sender != 0 ? FrameKind::kInlined : physical, inlined, scope.bci);
    if (scope.sender == 0 || !scope_at(vm_, compiled, scope.sender, &scope)) {
      break;
    }
  }
  return false;
}

} // namespace jprof::agent::sampling
