// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Our own walker of HotSpot's stacks: interpreted, compiled, inlined, native-wrapper, stub and
// native frames in one pass, from the registers at the interruption to the thread's first frame.
// Signal-safe; runs on the thread whose stack it walks. Every load is protected, and the stack
// pointer must grow with each physical frame, so a damaged stack ends only the walk.

#include "agent/arch/arch.h"
#include "agent/sampling/code_cache.h"
#include "agent/sampling/compiled_method.h"
#include "agent/sampling/frame_cache.h"
#include "agent/sampling/frozen_stack.h"
#include "agent/sampling/module_map.h"
#include "agent/sampling/name_store.h"
#include "agent/sampling/old_code.h"
#include "agent/sampling/vm_layout.h"
#include "lib/wire/region.h"

#include <cstdint>

namespace jprof::agent::sampling {

// No stack is kept deeper than this.
inline constexpr std::uint32_t kMaxScratchDepth = 2048;

struct WalkedStack {
  std::uint32_t depth = 0;
  std::uint16_t flags = 0;                          // wire::StackFlag bits
  wire::ErrorFrame error = wire::ErrorFrame::kNone; // why the walk ended early, if it did
  std::uint32_t unnamed_frames = 0;
  bool unknown_module = false; // a native pc is in no module that we know
  // Compiled callers: known from earlier walks, newly read, and evicted to make room for those.
  std::uint32_t cache_hits = 0;
  std::uint32_t cache_misses = 0;
  std::uint32_t cache_evictions = 0;
  bool in_old_code = false; // the innermost method is compiled, and its inlined methods may be
                            // named after their callers
};

class StackWalker {
 public:
  // `frames` has room for max_depth and is written leaf first. `frozen` is null if we do not know
  // how this JVM keeps the frames of virtual threads.
  StackWalker(const VmLayout& vm, const FrozenLayout* frozen, const ModuleMap& modules,
              const NameStore& names, wire::Frame* frames, std::uint32_t max_depth)
      : vm_(vm), frozen_(frozen), modules_(modules), names_(names), frames_(frames),
        max_depth_(max_depth) {}

  // Takes compiled callers from `cache`, and adds those it finds. `generation` is the number of the
  // generation that the names belong to.
  void use_cache(const FrameCache& cache, std::uint32_t generation) {
    cache_ = vm_.compiled.compile_id >= 0 ? cache : FrameCache();
    generation_ = generation;
  }

  // Makes walk() report whether a stack ends in code that `old` holds.
  void judge_age(const OldCode& old) { old_code_ = &old; }

  // `java_thread` is 0 for a thread on which the JVM does not run Java code. `ucontext` is where
  // the kernel has saved `at`; 0: nowhere, so it is unknown whether it was a page fault.
  WalkedStack walk(const arch::Registers& at, std::uint64_t java_thread,
                   std::uint64_t ucontext = 0);

 private:
  // Where the thread last left Java code for native code, from HotSpot's JavaFrameAnchor.
  struct Anchor {
    std::uint64_t sp = 0; // 0: none
    std::uint64_t pc = 0;
    std::uint64_t fp = 0;
  };

  void push_kernel(std::uint64_t ucontext);
  bool step();
  bool resume_interrupted(std::uint64_t context);
  bool step_native();
  bool step_generated();
  bool step_interpreted(const CodeBlob& blob);
  bool step_compiled(const CodeBlob& blob);
  bool step_cached(bool* left);
  bool leave_compiled(const CodeBlob& blob, bool is_native);
  bool find_cached(std::uint64_t pc, CachedFrames* first) const;
  bool push_cached(const CachedFrames& first);
  bool is_cached_call(std::uint64_t pc) const;
  std::uint32_t compile_id(std::uint64_t blob) const;
  void note_age(std::uint32_t id, bool is_native);
  void keep_frames(const CodeBlob& blob, std::uint32_t id, std::uint32_t depth, bool is_native);
  bool step_stub(const CodeBlob& blob);
  bool leave_calling_stub(const CodeBlob& blob);
  bool leave_entry_barrier(const CodeBlob& blob);
  bool leave_stub(const CodeBlob& blob);
  void skip_pushed_arguments();
  void skip_pushed_registers(arch::Registers& caller);
  bool is_call_of(const CodeBlob& blob, std::uint64_t pc) const;
  bool leave_dispatch();
  bool leave_called_stub(const CodeBlob& blob);
  bool leave_unwinding_stub();
  bool leave_exception_stub(const CodeBlob& blob);
  bool leave_frameless_stub(bool adapter);
  bool step_entry_frame();
  bool is_thaw_stub(const CodeBlob& blob) const;
  bool step_thaw_stub(const CodeBlob& blob);
  bool reaches_entry(std::uint64_t frame_bytes) const;
  bool is_above_entry(const CodeBlob& blob) const;
  bool step_above_entry();
  bool leave_entry();
  bool push_frozen_frames();
  bool push_all_frozen();
  bool push_frozen(const FrozenStack& stack);
  void push_entry();
  // Whether a register holds the stack pointer from before arguments were moved.
  enum class SenderSp : std::uint8_t { kNone, kSet, kPerhapsSet };
  bool leave_method_entry(SenderSp sender_sp);
  bool has_compiled_frame(const arch::Registers& caller);
  bool leave_frame_of(const CodeBlob& blob);
  bool accept_caller_of_leaf(const CodeBlob& blob, const arch::Registers& caller);
  bool leave_above_saved_sp(const CodeBlob& blob);

  bool has_grown(const arch::Registers& caller) const;
  bool accept(const arch::Registers& caller);
  // How a caller fits: not at all, by its code alone, or also by what it calls or its own frame.
  enum class Fit : std::uint8_t { kNone, kPerhaps, kSure };
  Fit fit_of(const arch::Registers& caller);
  bool accept_behind(std::uint64_t bytes, std::uint64_t max_words, Fit least);
  bool accept_from_leaf(const arch::Registers& caller);
  bool find_java_caller();
  bool resume_at_anchor();
  bool fail(wire::ErrorFrame error);
  void note(wire::ErrorFrame error);
  enum class Interpreted { kAccept, kOnlyCalls };
  bool is_call_return(std::uint64_t pc, Interpreted interpreted = Interpreted::kAccept) const;
  bool calls_method(std::uint64_t pc) const;
  bool calls_another(std::uint64_t target) const;
  bool is_caller(const arch::Registers& caller) const;
  bool read_interpreter_frame(const arch::Registers& registers, MethodView* method) const;
  bool is_native_wrapper(const CompiledMethod& compiled) const;
  Anchor read_anchor(std::uint64_t object, std::int32_t sp, std::int32_t pc, std::int32_t fp) const;
  std::int32_t interpreted_bci(const MethodView& method) const;

  void push(wire::Frame frame);
  void push_method(wire::FrameKind kind, const MethodView& method, std::int32_t bci);
  bool push_scopes(const CodeBlob& blob);
  bool read_name_of_stub(const CodeBlob& blob, NamedThing* thing) const;
  void push_stub(const CodeBlob& blob);

  const VmLayout& vm_;
  const FrozenLayout* frozen_;
  const ModuleMap& modules_;
  const NameStore& names_;
  wire::Frame* frames_;
  std::uint32_t max_depth_;
  FrameCache cache_;                  // not usable: no cache
  const OldCode* old_code_ = nullptr; // null: nobody asked
  std::uint32_t generation_ = 0;

  arch::Registers at_;
  bool interrupted_ = true;
  bool innermost_ = true; // only leaves so far, which may be called from anywhere in a frame
  CodeBlob leaf_;         // the stub or method whose caller we look for; end 0: none
  std::uint64_t java_thread_ = 0;
  bool in_frozen_ = false;  // has been through the frozen frames
  std::uint64_t entry_ = 0; // where the frame after the frozen ones begins; 0: unknown
  // Where the innermost native method returns to, and how many frames were found before that.
  std::uint64_t native_caller_ = 0;
  std::uint32_t native_depth_ = 0;
  bool in_java_ = false; // the thread ran Java code when it was interrupted
  Anchor anchor_;
  std::uint64_t stack_end_ = ~std::uint64_t{0};
  WalkedStack result_;
};

} // namespace jprof::agent::sampling
