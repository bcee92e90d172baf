// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What StackWalker accepts as a caller. Stacks are full of older return addresses: in words that a
// frame has not written yet, and in what was pushed and popped.
#include "agent/arch/safe_load.h"
#include "agent/sampling/compiled_method.h"
#include "agent/sampling/stack_walker.h"

namespace jprof::agent::sampling {
namespace {

constexpr std::uint64_t kMaxEntryBytes = 64; // from a method's first instruction to its last entry

// True for methods of the same name and type. The JVM stores each text once.
bool is_alike(const NamedThing& one, const NamedThing& other) {
  return one.name.address == other.name.address && one.signature.address == other.signature.address;
}

} // namespace

// True if generated code has certainly called something that returns to `pc`: it follows a call
// whose target is known and cannot be a method (so that a stale return address of an earlier method
// call is not mistaken for it), or one that the debug information lists; or it stands for frames in
// the heap.
bool StackWalker::is_call_return(std::uint64_t pc, Interpreted interpreted) const {
  CodeBlob blob;
  std::uint64_t target = 0;
  if (is_cached_call(pc)) {
    return true;
  }
  if (!vm_.contains_code(pc) || !find_blob(vm_, pc, &blob) || pc < blob.code_begin) {
    return false;
  }
  const bool called = arch::follows_call(pc, &target);
  // Words that a leaf has not written yet hold return addresses of earlier calls. A frame pointer
  // that a stub has not changed leads to where Java was entered.
  if (leaf_.kind == BlobKind::kCompiled) {
    if (called && calls_another(target)) {
      return false;
    }
  } else if (leaf_.end != 0 &&
             (!called || pc == vm_.call_stub_return || (target != 0 && !leaf_.contains(target)))) {
    return false;
  }
  if (blob.kind == BlobKind::kInterpreter) { // it pushes return addresses of invocations itself
    return called || interpreted == Interpreted::kAccept;
  }
  if (blob.kind == BlobKind::kStub) {
    return (called && (blob.frame_bytes >= 16 || pc == vm_.call_stub_return)) || is_thaw_stub(blob);
  }
  if (!called) {
    return false;
  }
  CodeBlob callee;
  if (target != 0 && (!vm_.contains_code(target) ||
                      (find_blob(vm_, target, &callee) && callee.kind == BlobKind::kStub))) {
    return true;
  }
  CompiledMethod compiled;
  return read_compiled_method(vm_, blob, &compiled) &&
         (sampling::is_call_return(compiled, pc) || is_native_wrapper(compiled));
}

// True if the call before `pc` is known to lead into compiled code of a method, not to a leaf.
bool StackWalker::calls_method(std::uint64_t pc) const {
  CodeBlob blob;
  std::uint64_t target = 0;
  return arch::follows_call(pc, &target) && vm_.contains_code(target) &&
         find_blob(vm_, target, &blob) && blob.kind == BlobKind::kCompiled;
}

// True if a call of `target` cannot have led to the compiled leaf, because `target` is compiled
// code of a method of another name or type. Calls may be redirected at any time, but only to
// methods of the same name and type; the code of native methods may jump on.
bool StackWalker::calls_another(std::uint64_t target) const {
  CodeBlob blob;
  CompiledMethod compiled;
  MethodView called;
  MethodView leaf;
  return target != 0 && vm_.contains_code(target) && find_blob(vm_, target, &blob) &&
         blob.kind == BlobKind::kCompiled && target < blob.code_begin + kMaxEntryBytes &&
         read_compiled_method(vm_, blob, &compiled) && read_method(vm_, compiled.method, &called) &&
         !called.is_native && read_compiled_method(vm_, leaf_, &compiled) &&
         read_method(vm_, compiled.method, &leaf) && !is_alike(called.text, leaf.text);
}

// Like is_call_return, for the caller of a method: an interpreted caller must have its frame, and
// only two stubs call methods. A saved register may hold any other return address.
bool StackWalker::is_caller(const arch::Registers& caller) const {
  CodeBlob blob;
  MethodView method;
  if (is_cached_call(caller.pc)) {
    return true;
  }
  if (!vm_.contains_code(caller.pc) || !find_blob(vm_, caller.pc, &blob)) {
    return false;
  }
  std::uint64_t pc = caller.pc;
  if (blob.kind == BlobKind::kCompiled) {
    original_pc(vm_, blob, caller.sp, &pc);
  }
  if (blob.kind == BlobKind::kStub && pc != vm_.call_stub_return && !is_thaw_stub(blob)) {
    return false;
  }
  return is_call_return(pc) &&
         (blob.kind != BlobKind::kInterpreter || read_interpreter_frame(caller, &method));
}

bool StackWalker::is_native_wrapper(const CompiledMethod& compiled) const {
  MethodView method;
  return read_method(vm_, compiled.method, &method) && method.is_native;
}

// True if `caller` is compiled and there is a return address where its frame size says, which
// proves its stack pointer.
bool StackWalker::has_compiled_frame(const arch::Registers& caller) {
  CodeBlob blob;
  arch::Registers next = caller;
  if (!find_blob(vm_, caller.pc, &blob) || blob.kind != BlobKind::kCompiled ||
      !arch::leave_fixed_frame({0, 0, blob.frame_bytes}, false, next)) {
    return false;
  }
  const CodeBlob leaf = leaf_;
  leaf_ = CodeBlob{}; // the caller's caller does not call the leaf
  const bool fits = is_caller(next);
  leaf_ = leaf;
  return fits;
}

// How well `caller` fits as the caller of a method, by its code and its own frame.
StackWalker::Fit StackWalker::fit_of(const arch::Registers& caller) {
  CodeBlob blob;
  std::uint64_t target = 0;
  if (!is_caller(caller)) {
    return Fit::kNone;
  }
  const bool compiled = find_blob(vm_, caller.pc, &blob) && blob.kind == BlobKind::kCompiled;
  const bool sure = !compiled ||
                    (arch::follows_call(caller.pc, &target) && leaf_.contains(target)) ||
                    has_compiled_frame(caller);
  return sure ? Fit::kSure : Fit::kPerhaps;
}

} // namespace jprof::agent::sampling
