// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// How StackWalker walks through code that the JVM has generated for itself: stub routines, adapters
// and runtime entries. Most have no frame, or one that their blob does not describe.
#include "agent/arch/safe_load.h"
#include "agent/sampling/dispatch_stub.h"
#include "agent/sampling/stack_walker.h"

namespace jprof::agent::sampling {
namespace {

using arch::load;
using arch::word_at;
using wire::ErrorFrame;
using wire::FrameKind;

// Between compiled and interpreted code.
bool is_adapter(const CodeBlob& blob) {
  constexpr char kName[] = "I2C/C2I adapters";
  return arch::holds_text(blob.name, sizeof kName - 1, kName);
}

// The interpreter's entries for invokeBasic, linkToStatic and the like. They jump on. Like
// adapters, they may have moved the return address, and the calls that lead to them do not name
// them.
bool is_method_handle_entry(const CodeBlob& blob) {
  constexpr char kName[] = "MethodHandles adapters";
  return arch::holds_text(blob.name, sizeof kName - 1, kName);
}

// A stub that looks up a virtual method. It pushes nothing.
bool is_dispatch(const CodeBlob& blob) {
  constexpr char kName[] = "vtable chunks";
  return arch::holds_text(blob.name, sizeof kName - 1, kName);
}

// C1's: a method that ends with an exception pops its frame and jumps to it.
bool is_unwinding_stub(const CodeBlob& blob) {
  constexpr char kName[] = "unwind_exception";             // and " Runtime1 stub", 8 to 23
  constexpr char kLater[] = "C1 Runtime unwind_exception"; // and "_blob", 24 and 25
  return arch::holds_text(blob.name, sizeof kName - 1, kName) ||
         arch::holds_text(blob.name, sizeof kLater - 1, kLater);
}
// C2's. Compiled code jumps to it, so it has no return address of its own.
bool is_exception_stub(const CodeBlob& blob) {
  constexpr char kName[] = "ExceptionBlob";
  return arch::holds_text(blob.name, sizeof kName - 1, kName);
}

// C1's search for a superclass.
bool is_subtype_check(const CodeBlob& blob) {
  constexpr char kName[] = "slow_subtype_check";             // and " Runtime1 stub", 8 to 23
  constexpr char kLater[] = "C1 Runtime slow_subtype_check"; // and "_blob", 24 and 25
  return arch::holds_text(blob.name, sizeof kName - 1, kName) ||
         arch::holds_text(blob.name, sizeof kLater - 1, kLater);
}

} // namespace

bool StackWalker::step_stub(const CodeBlob& blob) {
  if (at_.pc == vm_.call_stub_return && !interrupted_) {
    return step_entry_frame();
  }
  if (is_thaw_stub(blob)) {
    return step_thaw_stub(blob);
  }
  push_stub(blob);
  const bool left = leave_stub(blob);
  if (left && is_subtype_check(blob)) {
    skip_pushed_arguments();
  }
  return left;
}

// Interpreter entries and adapters between compiled and interpreted code move the return address:
// it is on top of the stack, in the frame that is being built, or has been popped for a moment.
// They also move the stack pointer, for arguments; a register then holds the old value. From
// compiled to interpreted code, an adapter sets that register late (after the barriers for class
// initialisation and unloading); until then it holds what some earlier call has left there.
bool StackWalker::leave_method_entry(SenderSp sender_sp) {
  constexpr std::uint64_t kFrameInTheMaking = 64;
  constexpr std::uint64_t kMaxArguments = 4096;
  arch::Registers callers[3] = {at_, at_, at_};
  bool usable[3] = {};
  usable[0] = arch::leave_frameless(callers[0]);
  usable[1] = at_.fp >= at_.sp && at_.fp - at_.sp <= kFrameInTheMaking &&
              arch::leave_by_frame_pointer(callers[1]);
  usable[2] = sender_sp != SenderSp::kNone && interrupted_ && at_.popped_return != 0 &&
              at_.sender_sp >= at_.sp;
  callers[2].pc = at_.popped_return;
  for (int i = 0; i < 3; ++i) {
    arch::Registers& caller = callers[i];
    if (!usable[i] || !is_call_return(caller.pc)) {
      continue;
    }
    const bool set = sender_sp == SenderSp::kSet ||
                     (sender_sp == SenderSp::kPerhapsSet && !has_compiled_frame(caller));
    // The frame being built begins with it; the register holds the bytecode pointer then.
    const std::uint64_t saved = i == 1 && at_.fp - at_.sp >= 8 ? word_at(at_.fp - 8) : 0;
    for (const std::uint64_t sp : {saved, at_.sender_sp}) {
      if (set && sp >= caller.sp && sp - caller.sp <= kMaxArguments && (sp & 7) == 0) {
        caller.sp = sp;
        break;
      }
    }
    if (sender_sp == SenderSp::kNone && at_.lr != 0) {
      skip_pushed_registers(caller);
    }
    return accept(caller);
  }
  return false;
}

bool StackWalker::leave_stub(const CodeBlob& blob) {
  if (blob.frame_bytes >= 16) {
    const bool left = interrupted_ && ((is_exception_stub(blob) && leave_exception_stub(blob)) ||
                                       leave_called_stub(blob));
    return left || leave_frame_of(blob);
  }
  if (is_unwinding_stub(blob)) {
    return leave_unwinding_stub() || fail(ErrorFrame::kBrokenStack);
  }
  if (interrupted_ && is_dispatch(blob) && leave_dispatch()) {
    return true;
  }
  const bool adapter = is_adapter(blob) || is_method_handle_entry(blob);
  leaf_ = adapter ? CodeBlob{} : blob;
  const bool left = interrupted_ ? leave_frameless_stub(adapter) : leave_calling_stub(blob);
  leaf_ = CodeBlob{};
  return left;
}

// The caller has pushed its two arguments, preceded by two registers if it copies an array, and
// pops them afterwards (c1_LIRAssembler_x86.cpp, emit_typecheck_helper and emit_arraycopy). Its
// frame is above them.
void StackWalker::skip_pushed_arguments() {
  constexpr std::uint64_t kPushedBytes[2] = {16, 32};
  for (const std::uint64_t bytes : kPushedBytes) {
    arch::Registers caller = at_;
    caller.sp += bytes;
    if (has_compiled_frame(caller)) {
      at_ = caller;
      return;
    }
  }
}

// A stub whose return address is in the link register may have made a frame record of it, or pushed
// other registers that it uses. Its compiled caller's frame is above them; if none is found,
// nothing was pushed.
void StackWalker::skip_pushed_registers(arch::Registers& caller) {
  constexpr std::uint64_t kMaxPushedBytes = 1024;
  arch::Registers recorded = at_;
  if (at_.fp >= at_.sp && at_.fp - at_.sp <= kMaxPushedBytes &&
      arch::leave_by_frame_pointer(recorded) && recorded.pc == caller.pc) {
    caller = recorded;
    return;
  }
  for (std::uint64_t bytes = 0; bytes <= kMaxPushedBytes; bytes += 16) {
    arch::Registers at = caller;
    at.sp += bytes;
    if (has_compiled_frame(at)) {
      caller.sp = at.sp;
      break;
    }
  }
}

// The entry barrier of compiled methods keeps a word between its frame pointer and its return
// address (stubGenerator_x86_64.cpp, generate_method_entry_barrier).
bool StackWalker::leave_entry_barrier(const CodeBlob& blob) {
  constexpr std::uint64_t kCookie = ~std::uint64_t{0};
  arch::Registers caller = at_;
  caller.sp = at_.fp + 24;
  return word_at(at_.fp + 8) == kCookie && load(at_.fp, &caller.fp) &&
         load(at_.fp + 16, &caller.pc) && is_call_of(blob, caller.pc) && accept(caller);
}

// Leaves a stub that calls the JVM, or libc, in the middle of its work. Most have set up their
// frame pointer; if not, it belongs to some older frame.
bool StackWalker::leave_calling_stub(const CodeBlob& blob) {
  if (arch::may_be_frame_pointer(at_.fp, at_.sp) && leave_entry_barrier(blob)) {
    return true;
  }
  arch::Registers caller = at_;
  if (arch::may_be_frame_pointer(at_.fp, at_.sp) && arch::leave_by_frame_pointer(caller) &&
      (is_call_return(caller.pc) || (!in_java_ && modules_.find(caller.pc) != nullptr))) {
    return accept(caller);
  }
  return find_java_caller() || fail(ErrorFrame::kBrokenStack);
}

// True if `pc` follows a call that leads into the stub.
bool StackWalker::is_call_of(const CodeBlob& blob, std::uint64_t pc) const {
  std::uint64_t target = 0;
  return vm_.contains_code(pc) && arch::follows_call(pc, &target) && blob.contains(target);
}

// The caller's return address is on top. We cannot require that it calls the stub: its call may
// have been redirected meanwhile.
bool StackWalker::leave_dispatch() {
  arch::Registers caller = at_;
  CodeBlob blob;
  return arch::leave_frameless(caller) && find_blob(vm_, caller.pc, &blob) &&
         blob.kind == BlobKind::kCompiled && is_caller(caller) && accept(caller);
}

// Runtime entries push registers before they have the frame that their blob describes, and some are
// done by then. The parts of it that they have not written yet hold return addresses of earlier
// calls. So we first try the frame pointer and the complete frame, then the first word that is the
// return address of a call to the entry.
bool StackWalker::leave_called_stub(const CodeBlob& blob) {
  constexpr std::uint64_t kMaxPushed = 8;
  const std::uint64_t max_bytes = blob.frame_bytes + kMaxPushed * 8;
  arch::Registers caller = at_;
  if (at_.lr != 0 && is_call_of(blob, arch::strip_return_address(at_.lr))) {
    return arch::leave_frameless(caller) && accept(caller);
  }
  if (at_.fp >= at_.sp && at_.fp - at_.sp < max_bytes && arch::leave_by_frame_pointer(caller) &&
      (is_call_of(blob, caller.pc) || has_compiled_frame(caller))) {
    return accept(caller);
  }
  caller = at_;
  if (arch::leave_fixed_frame({blob.code_begin, blob.frame_complete, blob.frame_bytes}, true,
                              caller) &&
      (is_call_of(blob, caller.pc) || has_compiled_frame(caller))) {
    return accept(caller);
  }
  caller = at_;
  for (std::uint64_t slot = at_.sp; slot < at_.sp + max_bytes; slot += 8) {
    if (!load(slot, &caller.pc)) {
      return false;
    }
    if (is_call_of(blob, caller.pc)) {
      caller.sp = slot + 8;
      const bool saved = at_.fp == slot - 8;
      return (!saved || load(slot - 8, &caller.fp)) && accept(caller);
    }
  }
  return false;
}

// It pops the return address once it knows the handler; until then that is on top, or in the link
// register, or below a word or two that a call has pushed.
bool StackWalker::leave_unwinding_stub() {
  constexpr std::uint64_t kMaxWords = 3;
  arch::Registers linked = at_;
  if (interrupted_ && at_.lr != 0 && arch::leave_frameless(linked) && is_caller(linked)) {
    return accept(linked);
  }
  for (std::uint64_t word = 0; word < kMaxWords; ++word) {
    arch::Registers caller = at_;
    caller.sp = at_.sp + word * 8 + arch::kReturnSlotBytes;
    if (load(at_.sp + word * 8, &caller.pc) && is_caller(caller)) {
      return accept(caller);
    }
  }
  arch::Registers popped = at_;
  popped.pc = arch::strip_return_address(at_.exception_pc);
  return interrupted_ && is_caller(popped) && accept(popped);
}

bool StackWalker::leave_exception_stub(const CodeBlob& blob) {
  arch::Registers caller = at_;
  return arch::leave_exception_stub(blob.code_begin, caller) && is_caller(caller) && accept(caller);
}

// A stub routine has the caller's return address on top, or has set up its own frame pointer, or is
// in between, or keeps registers on the stack. Each guess is checked.
bool StackWalker::leave_frameless_stub(bool adapter) {
  if (leave_method_entry(adapter ? SenderSp::kPerhapsSet : SenderSp::kNone)) {
    return true;
  }
  arch::Registers caller = at_;
  if (at_.fp >= at_.sp && at_.fp < stack_end_ && arch::leave_by_frame_pointer(caller) &&
      accept_from_leaf(caller)) {
    return true;
  }
  // The JVM itself calls some stubs, for example to flush instruction caches. It need not have left
  // Java for that: a call that compiled code makes to resolve another one does not.
  std::uint64_t target = 0;
  caller = at_;
  if (arch::leave_frameless(caller) && modules_.find(caller.pc) != nullptr &&
      (!in_java_ ||
       (arch::follows_call(caller.pc, &target) && (target == 0 || leaf_.contains(target))))) {
    return accept(caller);
  }
  return find_java_caller() || fail(ErrorFrame::kNotWalkable);
}

// The stub's own name if it is known, else that of the blob that holds it and others.
bool StackWalker::read_name_of_stub(const CodeBlob& blob, NamedThing* thing) const {
  // The code after a call may be the next stub's.
  const std::uint64_t pc = at_.pc - (interrupted_ ? 0 : 1);
  const StubName* stub = vm_.stub_names != nullptr ? vm_.stub_names->find(pc) : nullptr;
  if (stub != nullptr) {
    return read_stub_name(vm_.code_low + stub->begin, stub->text, thing);
  }
  const char* dispatch = dispatch_stub_name(vm_, blob, pc);
  return read_stub_name(blob.address,
                        dispatch != nullptr ? reinterpret_cast<std::uint64_t>(dispatch) : blob.name,
                        thing);
}

void StackWalker::push_stub(const CodeBlob& blob) {
  NamedThing thing;
  const bool known = read_name_of_stub(blob, &thing);
  const std::uint32_t name = known ? names_.put(thing) : 0;
  result_.unnamed_frames += name == 0 ? 1 : 0;
  push(wire::make_frame(FrameKind::kStub, name));
}

} // namespace jprof::agent::sampling
