// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/cache_check.h"
#include "agent/sampling/stack_walker.h"
#include "tests/unit/agent/fake_method.h"
#include "tests/unit/agent/protected_loads.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace jprof::agent::sampling {
namespace {

#ifdef __x86_64__

constexpr std::uint64_t kSegment = 64;
constexpr std::uint64_t kSegments = 64;
constexpr std::uint64_t kBlockHead = 16;
constexpr std::int32_t kCompileId = 72; // offsets in an nmethod; those of the rest are in lay_out()
constexpr std::int32_t kDeoptHandler = 76;
constexpr std::uint64_t kCodeOffset = 128;
constexpr std::uint64_t kFrameBytes = 32;
constexpr std::uint64_t kOriginalPc = 8; // in a frame, where deoptimisation keeps it
constexpr char kName[] = "nmethod";

// A code cache with nmethods in it, and a thread that has called native code from one of them.
class Callers : public ProtectedLoads {
 protected:
  using Methods = std::vector<const FakeMethod*>; // outermost first

  Callers() { lay_out(); }

  std::uint64_t heap() const { return reinterpret_cast<std::uint64_t>(code_.data()); }

  // An nmethod whose block begins at `segment` and takes `segments`; gives the return address of a
  // call that is `call_at` bytes into its code, in methods that are inlined into each other.
  std::uint64_t compile(std::uint64_t segment, std::uint64_t segments, std::uint32_t id,
                        const Methods& methods, std::uint64_t call_at = 8) {
    const std::uint64_t block = heap() + segment * kSegment;
    const std::uint64_t blob = block + kBlockHead;
    for (std::uint64_t i = 0; i < segments; ++i) {
      segment_map_[segment + i] = static_cast<std::uint8_t>(i);
    }
    put<std::uint8_t>(block + 8, 1);
    put(blob, reinterpret_cast<std::uint64_t>(kName));
    put(blob + 8, static_cast<std::uint32_t>(segments * kSegment - kBlockHead));
    put(blob + 12, static_cast<std::uint32_t>(kFrameBytes / 8));
    put<std::int16_t>(blob + 16, -1);
    put(blob + 20, static_cast<std::uint32_t>(kCodeOffset));
    put(blob + 32, methods[0]->address());
    put<std::uint8_t>(blob + 40, 4);
    put(blob + kCompileId, id);
    put(blob + kDeoptHandler, static_cast<std::uint32_t>(segments * kSegment - kBlockHead - 1));
    put(blob + 68, static_cast<std::uint32_t>(kOriginalPc));
    const std::uint64_t pc = blob + kCodeOffset + call_at;
    put<std::uint16_t>(pc - 2, 0xd0ff); // call *%rax
    describe(blob, methods, static_cast<std::int32_t>(call_at));
    return pc;
  }
  void free_block(std::uint64_t segment) { put<std::uint8_t>(heap() + segment * kSegment + 8, 0); }
  std::uint64_t deopt_handler(std::uint64_t segment, std::uint64_t segments) const {
    return heap() + segment * kSegment + segments * kSegment - 1;
  }

  void be_in_java() { thread_[4] = 8; }
  void be_in_native() { thread_[4] = 4; }

  // Innermost first: where the frames return to.
  void call(const std::vector<std::uint64_t>& pcs) {
    stack_.fill(0);
    thread_[0] = slot(0); // where Java code was left: sp, pc
    thread_[1] = pcs[0];
    for (std::size_t i = 1; i < pcs.size(); ++i) {
      stack_[i * kFrameBytes / 8 - 1] = pcs[i];
    }
  }
  std::uint64_t slot(std::size_t word) const {
    return reinterpret_cast<std::uint64_t>(stack_.data() + word);
  }

  // The Java frames, as "inlined outer.name"; "!" stands for the error that ends each walk here.
  std::string walk(std::uint32_t generation = 1, bool cached = true) {
    StackWalker walker(vm_, nullptr, *modules_, names_, frames_.data(), max_depth_);
    if (cached) {
      walker.use_cache(cache_, generation);
    }
    if (old_code_ != nullptr) {
      walker.judge_age(*old_code_);
    }
    arch::Registers native;
    native.pc = 0x1234;
    native.sp = slot(0) - 64;
    walked_ = walker.walk(native, reinterpret_cast<std::uint64_t>(thread_.data()));
    std::string text;
    for (std::uint32_t i = 1; i < walked_.depth; ++i) {
      const wire::FrameKind kind = wire::frame_kind(frames_[i]);
      text += kind == wire::FrameKind::kError ? "!" : name(frames_[i]);
      text += kind == wire::FrameKind::kInlined ? "<" : " ";
    }
    return text;
  }
  std::string name(wire::Frame frame) const {
    const auto* record = names_.arena.record_at<wire::NameRecord>(wire::frame_name(frame));
    return {reinterpret_cast<const char*>(record + 1) + record->class_bytes, record->name_bytes};
  }

  const FakeMethod a_{"C", "a", "()V"};
  const FakeMethod b_{"C", "b", "()V"};
  const FakeMethod c_{"C", "c", "()V"};
  const FakeMethod d_{"C", "d", "()V"};
  VmLayout vm_ = fake_layout();
  WalkedStack walked_;
  std::uint32_t max_depth_ = 64;
  const OldCode* old_code_ = nullptr;
  std::vector<FrameCache::Entry> entries_ = std::vector<FrameCache::Entry>(256);
  FrameCache cache_{entries_.data(), entries_.size()};

 private:
  template <typename T>
  void put(std::uint64_t address, T value) {
    std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
  }
  // Scopes, one byte a number, each but the first inlined into the one before; pc descriptions.
  void describe(std::uint64_t blob, const Methods& methods, std::int32_t call_at) {
    auto& data = tables_.emplace_back(std::make_unique<std::array<std::uint8_t, 512>>());
    std::uint8_t* at = data->data();
    std::uint8_t sender = 0;
    std::uint32_t end = 1;
    for (std::size_t i = 0; i < methods.size(); ++i) {
      const auto begin = static_cast<std::uint8_t>(end);
      at[end++] = sender;
      at[end++] = static_cast<std::uint8_t>(i + 1);
      at[end++] = 3; // bci 2
      sender = begin;
    }
    const std::int32_t descriptions[3][4] = {{-1, 0}, {call_at, sender}, {0x7fffffff, 0}};
    std::memcpy(at + 256, descriptions, sizeof descriptions);
    for (std::size_t i = 0; i < methods.size(); ++i) {
      put(reinterpret_cast<std::uint64_t>(at) + 384 + i * 8, methods[i]->address());
    }
    put(blob + 80, reinterpret_cast<std::uint64_t>(at)); // immutable data
    put<std::uint32_t>(blob + 44, 0);
    put<std::uint32_t>(blob + 48, 256);
    put<std::uint32_t>(blob + 52, 256 + sizeof descriptions);
    put(blob + 88, reinterpret_cast<std::uint64_t>(at) + 384); // mutable data
    put<std::uint32_t>(blob + 96, 0);
  }

  void lay_out() {
    vm_.java_feature = 25;
    vm_.heap_count = 1;
    vm_.code_low = heap();
    vm_.code_high = heap() + code_.size();
    vm_.heaps[0] = {vm_.code_low, vm_.code_high,
                    reinterpret_cast<std::uint64_t>(segment_map_.data()), 6};
    vm_.heap_block_bytes = kBlockHead;
    vm_.heap_block_used = {8, 1, false};
    vm_.blob.name = 0;
    vm_.blob.size = 8;
    vm_.blob.frame_size = 12;
    vm_.blob.frame_complete = {16, 2, true};
    vm_.blob.code_offset = 20;
    vm_.blob.mutable_data = 88;
    vm_.blob.relocation_size = 96;
    auto& compiled = vm_.compiled;
    compiled.method = 32;
    compiled.comp_level = {40, 1, true};
    compiled.compile_id = kCompileId;
    compiled.immutable_data = 80;
    compiled.scopes_data_offset = 44;
    compiled.scopes_pcs_offset = 48;
    compiled.scopes_pcs_end_offset = 52;
    compiled.metadata_in_mutable_data = true;
    compiled.deopt_handler_offset = kDeoptHandler;
    compiled.orig_pc_offset = 68;
    vm_.thread.anchor_sp = 0;
    vm_.thread.anchor_pc = 8;
    vm_.thread.anchor_fp = 16;
    vm_.thread.stack_base = 24;
    vm_.thread.state = 32;
    thread_[3] = slot(stack_.size());
    be_in_native();
  }

  struct alignas(64) Code : std::array<std::uint8_t, kSegments * kSegment> {};
  Code code_{};
  std::array<std::uint8_t, kSegments> segment_map_{};
  std::vector<std::unique_ptr<std::array<std::uint8_t, 512>>> tables_;
  std::array<std::uint64_t, 5> thread_{};
  std::array<std::uint64_t, 256> stack_{};
  std::vector<wire::Frame> frames_ = std::vector<wire::Frame>(64);
  std::unique_ptr<ModuleMap> modules_ = std::make_unique<ModuleMap>();
  std::uint64_t committed_ = 8;
  std::vector<std::uint64_t> arena_ = std::vector<std::uint64_t>(8192);
  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(64);
  NameStore names_{{reinterpret_cast<std::uint8_t*>(arena_.data()), arena_.size() * 8, &committed_},
                   {slots_.data(), slots_.size() - 1}};
};

TEST_F(Callers, AreReadOnceAndKnownAfterwards) {
  call({compile(0, 8, 7, {&a_}), compile(8, 8, 8, {&b_, &c_, &d_})});

  EXPECT_EQ(walk(), "a d<c<b ! ");
  EXPECT_EQ(walked_.cache_misses, 2U);
  EXPECT_EQ(walked_.cache_hits, 0U);
  EXPECT_EQ(walk(), "a d<c<b ! ");
  EXPECT_EQ(walked_.cache_misses, 0U);
  EXPECT_EQ(walked_.cache_hits, 2U);
}

TEST_F(Callers, AreReadAnewInAnotherGeneration) {
  call({compile(0, 8, 7, {&a_})});
  walk(1);

  EXPECT_EQ(walk(2), "a ! ");
  EXPECT_EQ(walked_.cache_hits, 0U);
}

TEST_F(Callers, AreReadAnewWhereAnotherMethodHasTheAddressOfOneThatWasFreed) {
  const std::uint64_t pc = compile(0, 8, 7, {&a_, &b_});
  call({pc});
  walk();
  walk();
  ASSERT_EQ(walked_.cache_hits, 1U);

  ASSERT_EQ(compile(0, 8, 9, {&c_}), pc);
  EXPECT_EQ(walk(), "c ! ");
  EXPECT_EQ(walk(), "c ! ");
  EXPECT_EQ(walked_.cache_hits, 1U);
}

// The code cache gives away the end of a free block first: the header of what was freed stays as it
// was.
TEST_F(Callers, AreReadAnewWhereAnotherMethodBeginsBehindTheHeaderOfOneThatWasFreed) {
  const std::uint64_t pc = compile(0, 8, 7, {&a_}, 300);
  call({pc});
  walk();
  walk();
  ASSERT_EQ(walked_.cache_hits, 1U);

  free_block(0);
  ASSERT_EQ(compile(4, 4, 9, {&b_}, 300 - 4 * kSegment), pc);
  EXPECT_EQ(walk(), "b ! ");
}

TEST_F(Callers, AreNoneWhereTheirMethodWasFreed) {
  call({compile(0, 8, 7, {&a_})});
  walk();

  free_block(0);
  EXPECT_EQ(walk(), "! ");
  EXPECT_EQ(walked_.error, wire::ErrorFrame::kUnknownBlob);
}

// Its handler's address stands in all frames that are deoptimised, whatever they have called.
TEST_F(Callers, ThatAreDeoptimisedAreReadFromTheirFrames) {
  const std::uint64_t pc = compile(0, 8, 7, {&a_});
  const std::uint64_t handler = deopt_handler(0, 8);
  call({pc, handler, handler});
  for (const std::size_t frame : {1UL, 2UL}) {
    *reinterpret_cast<std::uint64_t*>(slot(frame * kFrameBytes / 8 + kOriginalPc / 8)) =
        frame == 1 ? pc : pc - 1;
  }
  const std::string uncached = walk(1, false);

  EXPECT_EQ(uncached, "a a a ! ");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(walk(), uncached);
    FrameCache cache = cache_;
    CachedFrames found;
    EXPECT_FALSE(cache.find(handler, 0, 1, &found));
    EXPECT_FALSE(cache.find(pc - 1, 0, 1, &found));
  }
}

TEST_F(Callers, WithManyInlinedMethodsAreKeptInPieces) {
  Methods many;
  for (int i = 0; i < 11; ++i) {
    many.push_back(i % 2 == 0 ? &a_ : &b_);
  }
  const std::uint64_t pc = compile(0, 8, 7, many);
  call({pc});
  const std::string all = "a<b<a<b<a<b<a<b<a<b<a ! ";
  EXPECT_EQ(walk(), all);
  EXPECT_EQ(walk(), all);
  EXPECT_EQ(walked_.cache_hits, 1U);

  for (FrameCache::Entry& entry : entries_) { // the second of three is given up
    entry.pc = entry.pc == pc && (entry.shape >> 40 & 0xff) == 1 ? 0 : entry.pc;
  }
  EXPECT_EQ(walk(), all);
  EXPECT_EQ(walked_.cache_hits, 0U);
  EXPECT_EQ(walk(), all);
  EXPECT_EQ(walked_.cache_hits, 1U);
}

// Where Java code has called a leaf, it may have been anywhere in a frame.
TEST_F(Callers, AreOfTheAgeOfTheirCode) {
  OldCode old;
  old_code_ = &old;
  old.begin();
  old.add(8);
  old.publish();
  be_in_java();
  call({compile(0, 8, 7, {&a_}), compile(8, 8, 8, {&b_})});
  for (const bool cached : {false, true, true}) {
    EXPECT_EQ(walk(1, cached), "a b ! ");
    EXPECT_FALSE(walked_.in_old_code) << "the caller waits for a call, which its code lists";
  }

  call({compile(16, 8, 8, {&c_}), compile(24, 8, 9, {&d_})});
  for (const bool cached : {false, true, true}) {
    EXPECT_EQ(walk(1, cached), "c d ! ");
    EXPECT_TRUE(walked_.in_old_code);
  }
  be_in_native();
  EXPECT_EQ(walk(), "c d ! ");
  EXPECT_FALSE(walked_.in_old_code);
}

TEST_F(Callers, AreCutWhereTheStackMayNotBeDeeper) {
  call({compile(0, 8, 7, {&a_, &b_, &c_}), compile(8, 8, 8, {&d_})});
  walk();
  max_depth_ = 3;

  EXPECT_EQ(walk(), "c<b<");
  EXPECT_EQ(walked_.cache_hits, 1U);
  EXPECT_EQ(walked_.flags, static_cast<std::uint16_t>(wire::StackFlag::kTruncated));
}

TEST_F(Callers, AreNotKeptWhereTheJvmDoesNotNumberItsMethods) {
  call({compile(0, 8, 0, {&a_})});
  EXPECT_EQ(walk(), walk());
  EXPECT_EQ(walked_.cache_hits, 0U);

  vm_.compiled.compile_id = -1;
  call({compile(0, 8, 7, {&a_})});
  EXPECT_EQ(walk(), walk());
  EXPECT_EQ(walked_.cache_hits + walked_.cache_misses, 0U);
}

TEST(CacheCheck, TellsWhereTheTwoDiffer) {
  std::array<wire::Frame, 8> frames{};
  std::array<wire::Frame, 8> others{};
  NameStore names;
  bool lies = false;
  const auto walk = [&](wire::Frame* to, bool cached) {
    to[0] = wire::make_frame(wire::FrameKind::kNative, cached && lies ? 1 : 2);
    WalkedStack stack;
    stack.depth = 1;
    return stack;
  };

  WalkedStack stack = walk(frames.data(), true);
  EXPECT_TRUE(is_same_without_cache(names, walk, &stack, frames.data(), others.data()));
  lies = true;
  stack = walk(frames.data(), true);
  EXPECT_FALSE(is_same_without_cache(names, walk, &stack, frames.data(), others.data()));
}

#endif

} // namespace
} // namespace jprof::agent::sampling
