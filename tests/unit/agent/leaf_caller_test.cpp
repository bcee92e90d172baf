// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/stack_walker.h"
#include "tests/unit/agent/fake_method.h"
#include "tests/unit/agent/fake_nmethod.h"
#include "tests/unit/agent/protected_loads.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace jprof::agent::sampling {
namespace {

#ifdef __x86_64__

constexpr std::uint64_t kBlobBytes = 1024;
constexpr std::uint64_t kBlobs = 16;
constexpr std::uint64_t kSegmentBytes = 64;
constexpr std::uint64_t kCodeOffset = 128; // in a blob
constexpr std::uint64_t kPcDescsOffset = 512;
constexpr std::int32_t kLastPcDesc = 0x7fffffff;
constexpr std::uint32_t kInJava = 8;

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

// A code cache, a thread in Java and its stack, as some JVM might have them. The leaf's caller is
// `callee`, that one's `caller`, which the call stub has called; `stale` is code that was left long
// ago but whose return addresses are still on the stack.
class LeafCaller : public ProtectedLoads {
 protected:
  static constexpr std::uint32_t kFrameWords = 6; // of each method
  static constexpr std::uint64_t kStackWords = 256;

  void SetUp() override {
    ProtectedLoads::SetUp();
    lay_out();
    const std::uint64_t call_stub = add("StubRoutines (1)", 0);
    vm_.call_stub_return = call(call_stub, 32, 0);
    callee_code_ = add_method(callee_);
    caller_code_ = add_method(caller_);
    stale_code_ = add_method(stale_);
    other_code_ = add_method(other_);
    caller_return_ = call(caller_code_, 64, entry(callee_code_));
    stale_return_ = call(stale_code_, 64, entry(other_code_));
    std::memcpy(thread_.data() + 1, &kInJava, sizeof kInJava);
    thread_[0] = address_of(stack_.data() + kStackWords);
  }

  std::uint64_t add(const char* name, std::uint32_t frame_words) {
    const std::uint64_t block = address_of(code_.data()) + blobs_ * kBlobBytes;
    for (std::uint64_t i = 0; i < kBlobBytes / kSegmentBytes; ++i) {
      segments_[blobs_ * (kBlobBytes / kSegmentBytes) + i] = static_cast<std::uint8_t>(i);
    }
    ++blobs_;
    const std::uint64_t blob = block + 16;
    put<std::uint8_t>(block + 8, 1); // in use
    put(blob, address_of(name));
    put<std::uint32_t>(blob + 8, kBlobBytes - 16);
    put<std::uint32_t>(blob + 12, frame_words);
    put<std::int16_t>(blob + 16, -1);
    put<std::uint32_t>(blob + 20, kCodeOffset);
    put<std::uint32_t>(blob + 48, kPcDescsOffset);
    put<std::uint32_t>(blob + 52, kPcDescsOffset + 16);
    put<std::int32_t>(blob + kPcDescsOffset, kLastPcDesc);
    return blob;
  }
  std::uint64_t add_method(const FakeMethod& method, std::uint32_t frame_words = kFrameWords) {
    const std::uint64_t blob = add("nmethod", frame_words);
    put(blob + 32, method.address());
    put<std::uint8_t>(blob + 40, 1); // C1
    return blob;
  }
  static std::uint64_t entry(std::uint64_t blob) { return blob + kCodeOffset; }
  // The return address of a call `offset` bytes into the blob's code, of one a blob; `target` 0: by
  // a register.
  std::uint64_t call(std::uint64_t blob, std::uint32_t offset, std::uint64_t target) {
    const std::uint64_t at = entry(blob) + offset;
    if (target == 0) {
      put<std::uint8_t>(at + 3, 0xff);
      put<std::uint8_t>(at + 4, 0xd0);
    } else {
      put<std::uint8_t>(at, 0xe8);
      put<std::int32_t>(at + 1, static_cast<std::int32_t>(target - (at + 5)));
    }
    put<std::int32_t>(blob + kPcDescsOffset, static_cast<std::int32_t>(offset + 5));
    put<std::int32_t>(blob + kPcDescsOffset + 16, kLastPcDesc);
    put<std::uint32_t>(blob + 52, kPcDescsOffset + 32);
    return at + 5;
  }
  // From `word` on: the frames of what has called the leaf, and of its caller.
  void put_callers(std::uint64_t word) {
    stack_[word + kFrameWords - 1] = caller_return_;
    stack_[word + 2 * kFrameWords - 1] = vm_.call_stub_return;
  }

  std::uint64_t at(std::uint64_t word) const { return address_of(stack_.data() + word); }

  WalkedStack walk(arch::Registers registers) {
    registers.sp = registers.sp == 0 ? at(kTop) : registers.sp;
    StackWalker walker(vm_, nullptr, *modules_, names(), frames_.data(),
                       static_cast<std::uint32_t>(frames_.size()));
    return walker.walk(registers, address_of(thread_.data()));
  }
  NameStore names() {
    return {{arena_.data(), arena_.size(), &committed_}, {table_.data(), table_.size() - 1}};
  }
  wire::Frame frame_of(const FakeMethod& method, wire::FrameKind kind = wire::FrameKind::kC1) {
    MethodView view;
    EXPECT_TRUE(read_method(vm_, method.address(), &view));
    return wire::make_java_frame(kind, wire::kNoBci, names().put(view.text));
  }
  // `first` and the two callers are all that stands above the call stub.
  void expect_callers_behind(std::uint32_t first, const WalkedStack& walked) {
    ASSERT_GT(walked.depth, first + 1);
    EXPECT_EQ(frames_[first], frame_of(callee_));
    EXPECT_EQ(frames_[first + 1], frame_of(caller_));
  }

  static constexpr std::uint64_t kTop = 64; // word that the stack pointer is at

  VmLayout vm_ = fake_layout();
  FakeMethod leaf_{"p/Leaf", "leaf", "()V"};
  FakeMethod callee_{"p/Callee", "callee", "()V"};
  FakeMethod caller_{"p/Caller", "caller", "()V"};
  FakeMethod stale_{"p/Stale", "stale", "()V"};
  FakeMethod other_{"p/Other", "other", "()V"};
  std::uint64_t callee_code_ = 0;
  std::uint64_t caller_code_ = 0;
  std::uint64_t stale_code_ = 0;
  std::uint64_t other_code_ = 0;
  std::uint64_t caller_return_ = 0;
  std::uint64_t stale_return_ = 0;
  std::vector<std::uint64_t> stack_ = std::vector<std::uint64_t>(kStackWords);
  std::vector<wire::Frame> frames_ = std::vector<wire::Frame>(64);
  std::unique_ptr<ModuleMap> modules_ = std::make_unique<ModuleMap>();

  template <typename T>
  void put(std::uint64_t address, T value) {
    std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
  }

 private:
  void lay_out() {
    vm_.java_feature = 21;
    vm_.heap_count = 1;
    vm_.code_low = address_of(code_.data());
    vm_.code_high = vm_.code_low + code_.size();
    vm_.heaps[0] = {vm_.code_low, vm_.code_high, address_of(segments_.data()), 6};
    vm_.heap_block_used = {8, 1, false};
    lay_out_nmethods(vm_);
    vm_.thread = {.anchor_sp = 16,
                  .anchor_pc = 24,
                  .anchor_fp = 32,
                  .stack_base = 0,
                  .stack_size = 40,
                  .state = 8,
                  .os_thread = 48,
                  .os_thread_id = 0,
                  .bytes = 64};
    vm_.entry_wrapper_words = arch::kCallWrapperWords;
    vm_.wrapper_anchor = 8;
    vm_.anchor_in_wrapper_sp = 0;
    vm_.anchor_in_wrapper_pc = 8;
    vm_.anchor_in_wrapper_fp = 16;
  }

  std::uint64_t blobs_ = 0;
  std::vector<std::uint8_t> code_ = std::vector<std::uint8_t>(kBlobs * kBlobBytes);
  std::vector<std::uint8_t> segments_ =
      std::vector<std::uint8_t>(kBlobs * kBlobBytes / kSegmentBytes, 255);
  std::array<std::uint64_t, 8> thread_{};
  std::vector<std::uint8_t> arena_ = std::vector<std::uint8_t>(64 * 1024);
  std::vector<std::uint64_t> table_ = std::vector<std::uint64_t>(4096);
  std::uint64_t committed_ = 8;
};

// The large area where a runtime stub saves registers holds return addresses of its calls before.
TEST_F(LeafCaller, OfARuntimeStubIsWhereItsFrameSays) {
  constexpr std::uint32_t kWords = 40;
  const std::uint64_t stub = add("monitorexit_nofpu Runtime1 stub", kWords);
  stack_[kTop + 5] = call(stale_code_, 64, entry(stub));
  stack_[kTop + kWords - 1] = call(callee_code_, 64, entry(stub));
  put_callers(kTop + kWords);

  expect_callers_behind(1, walk({.pc = entry(stub) + 200, .sp = 0, .fp = at(kTop + kWords - 2)}));
}

// Its registers are pushed only in part: the frame pointer says where the return address is.
TEST_F(LeafCaller, OfARuntimeStubIsBehindItsFramePointer) {
  const std::uint64_t stub = add("monitorexit_nofpu Runtime1 stub", 40);
  stack_[kTop + 5] = call(stale_code_, 64, entry(stub));
  stack_[kTop + 17] = call(callee_code_, 64, entry(stub));
  put_callers(kTop + 18);

  expect_callers_behind(1, walk({.pc = entry(stub) + 200, .sp = 0, .fp = at(kTop + 16)}));
}

// C1's stubs for exceptions return to the handler, which is behind no call.
TEST_F(LeafCaller, OfAnExceptionStubIsWhereItsReturnAddressWasChangedTo) {
  const std::uint64_t stub = add("handle_exception_from_callee Runtime1 stub", 2);
  stack_[kTop + 1] = entry(callee_code_) + 100;
  put_callers(kTop + 2);
  stack_[kTop + 3] = call(stale_code_, 64, entry(stub));

  expect_callers_behind(1, walk({.pc = entry(stub) + 200, .sp = 0, .fp = 1}));
}

// The call has been led to the runtime by another thread since.
TEST_F(LeafCaller, OfADispatchStubIsOnTopWhateverItCallsNow) {
  const std::uint64_t stub = add("vtable chunks", 0);
  const std::uint64_t resolve = add("resolve_virtual_call", 10);
  stack_[kTop] = call(callee_code_, 64, entry(resolve));
  put_callers(kTop + 1);
  stack_[kTop + 3] = call(stale_code_, 64, entry(stub));

  expect_callers_behind(1, walk({.pc = entry(stub) + 200, .sp = 0, .fp = 1}));
}

// Two pushed words, and where the frame would be without them stands what an older call has left.
TEST_F(LeafCaller, OfAMethodIsNotWhatCallsAnotherMethod) {
  const std::uint64_t leaf = add_method(leaf_);
  stack_[kTop + kFrameWords - 1] = stale_return_;
  stack_[kTop + kFrameWords + 1] = call(callee_code_, 64, entry(leaf));
  put_callers(kTop + kFrameWords + 2);

  expect_callers_behind(1, walk({.pc = entry(leaf) + 200, .sp = 0, .fp = 1}));
}

// The older call does not say what it has called, but no frame of that code stands there.
TEST_F(LeafCaller, OfAMethodHasAFrameOfItsOwn) {
  const std::uint64_t leaf = add_method(leaf_);
  stack_[kTop + kFrameWords - 1] = call(stale_code_, 64, 0);
  stack_[kTop + kFrameWords + 1] = call(callee_code_, 64, 0);
  put_callers(kTop + kFrameWords + 2);

  expect_callers_behind(1, walk({.pc = entry(leaf) + 200, .sp = 0, .fp = 1}));
}

// As long as they are alike: a call is led to the code that was compiled last.
TEST_F(LeafCaller, OfAMethodMayCallOtherCodeOfIt) {
  const std::uint64_t leaf = add_method(leaf_);
  const std::uint64_t compiled_again = add_method(leaf_);
  stack_[kTop + kFrameWords - 1] = call(callee_code_, 64, entry(compiled_again));
  put_callers(kTop + kFrameWords);

  expect_callers_behind(1, walk({.pc = entry(leaf) + 200, .sp = 0, .fp = 1}));
}

// Native code without unwind tables: Java code calls it by its address.
TEST_F(LeafCaller, OfNativeCodeDoesNotCallAMethod) {
  const std::array<std::uint8_t, 512> native{};
  modules_->count = 1;
  modules_->modules[0] = {address_of(native.data()), address_of(native.data() + native.size()), 0};
  stack_[kTop + 2] = stale_return_;
  stack_[kTop + 4] = call(callee_code_, 64, 0);
  put_callers(kTop + 5);

  expect_callers_behind(1, walk({.pc = address_of(native.data() + 256), .sp = 0, .fp = 0}));
}

// It has pushed its return address and the caller's frame pointer, and is about to name its method.
TEST_F(LeafCaller, OfAnInterpreterFrameInTheMakingIsNotItself) {
  const std::uint64_t interpreter = add("Interpreter", 0);
  stack_[kTop - 1] = 0;
  stack_[kTop - 2] = stale_.address(); // where the method of the frame will be
  stack_[kTop] = at(kTop + 5);         // the sender's stack pointer: two words were moved
  stack_[kTop + 1] = 1;
  stack_[kTop + 2] = call(callee_code_, 64, 0);
  put_callers(kTop + 5);

  const WalkedStack walked =
      walk({.pc = entry(interpreter) + 200, .sp = 0, .fp = at(kTop + 1), .sender_sp = 24});
  EXPECT_EQ(wire::frame_kind(frames_[0]), wire::FrameKind::kStub);
  expect_callers_behind(1, walked);
}

// The interpreter jumps to the entry of a method handle's linker: no call leads there.
TEST_F(LeafCaller, OfAMethodHandlesEntryIsTheInterpreter) {
  const std::uint64_t linkers = add("MethodHandles adapters", 0);
  const std::uint64_t interpreter = add("Interpreter", 0);
  stack_[kTop] = entry(interpreter) + 100;
  stack_[kTop + 7] = callee_.address(); // in the frame that the frame pointer is of
  stack_[kTop + 10] = at(kTop + 30);
  stack_[kTop + 11] = vm_.call_stub_return;

  const WalkedStack walked = walk({.pc = entry(linkers) + 200, .sp = 0, .fp = at(kTop + 10)});
  ASSERT_GT(walked.depth, 1U);
  EXPECT_EQ(frames_[1], frame_of(callee_, wire::FrameKind::kInterpreted));
}

// Compiled code that resolves a call stays in Java while the JVM flushes instruction caches.
TEST_F(LeafCaller, OfAStubThatTheJvmCallsIsNative) {
  const std::uint64_t stub = add("flush_icache_stub", 0);
  std::array<std::uint8_t, 512> native{};
  native[254] = 0xff;
  native[255] = 0xd0;
  modules_->count = 1;
  modules_->modules[0] = {address_of(native.data()), address_of(native.data() + native.size()), 0};
  stack_[kTop] = address_of(native.data() + 256);

  const WalkedStack walked = walk({.pc = entry(stub) + 200, .sp = 0, .fp = 1});
  ASSERT_GT(walked.depth, 1U);
  EXPECT_EQ(frames_[1], wire::make_frame(wire::FrameKind::kNative, stack_[kTop] - 1));
}

#endif

} // namespace
} // namespace jprof::agent::sampling
