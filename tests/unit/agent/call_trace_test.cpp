// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/call_trace.h"
#include "agent/sampling/handler.h"
#include "agent/sampling/sampler.h"
#include "tests/unit/agent/fake_method.h"
#include "tests/unit/agent/protected_loads.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

namespace jprof::agent::sampling {
namespace {

using wire::ErrorFrame;
using wire::FrameKind;

constexpr std::uint32_t kInJava = 8;
constexpr std::uint32_t kNew = 2;

// As the JVM's AsyncGetCallTrace reads and writes it.
struct Frame {
  std::int32_t bytecode_index;
  const void* method_id;
};
struct Trace {
  const void* env;
  std::int32_t count;
  Frame* frames;
};

struct Answer {
  std::int32_t count = 0;
  std::vector<Frame> frames;
  const void* env = nullptr; // that it was asked with
  std::int32_t depth = 0;
};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): answer() has no other way
Answer* g_answer = nullptr;

void answer(Trace* trace, std::int32_t depth, void*) {
  g_answer->env = trace->env;
  g_answer->depth = depth;
  trace->count = g_answer->count;
  std::copy(g_answer->frames.begin(), g_answer->frames.end(), trace->frames);
}

// Deep in its own calls, with registers of the caller's in use.
[[gnu::noinline, gnu::no_sanitize("address"), gnu::no_sanitize("thread"),
  gnu::no_sanitize("undefined")]] std::uint64_t
fault_below(std::uint32_t depth) {
  const std::uint64_t value =
      depth == 0 ? *reinterpret_cast<volatile std::uint64_t*>(8) : fault_below(depth - 1);
  return value + depth;
}
void fault(Trace* trace, std::int32_t, void*) {
  trace->count = static_cast<std::int32_t>(fault_below(20));
}

struct JavaThread {
  std::uint64_t state = kInJava;
  std::uint64_t env = 0;
};

class CallTrace : public ::testing::Test {
 protected:
  CallTrace()
      : arena_(8192), slots_(64), scratch_(std::make_unique<Scratch>()), vm_(fake_layout()) {
    names_.arena = {reinterpret_cast<std::uint8_t*>(arena_.data()), arena_.size() * 8, &committed_};
    names_.table = {slots_.data(), slots_.size() - 1};
    vm_.thread.state = offsetof(JavaThread, state);
    vm_.env_offset = offsetof(JavaThread, env);
    g_answer = &answer_;
  }
  WalkedStack walk(void (*function)(Trace*, std::int32_t, void*) = answer) {
    return walk_by_call_trace(vm_, names_,
                              {.function = reinterpret_cast<void*>(function),
                               .ucontext = &context_,
                               .java_thread = reinterpret_cast<std::uint64_t>(&thread_),
                               .frames = scratch_->frames,
                               .guarded_sp = &scratch_->guarded_sp,
                               .max_depth = 2048});
  }
  ErrorFrame only_error(const WalkedStack& stack) const {
    EXPECT_EQ(stack.depth, 1U);
    EXPECT_EQ(wire::frame_kind(scratch_->frames[0]), FrameKind::kError);
    return static_cast<ErrorFrame>(wire::frame_payload(scratch_->frames[0]));
  }

  std::uint64_t committed_ = 8;
  std::vector<std::uint64_t> arena_;
  std::vector<std::uint64_t> slots_;
  std::unique_ptr<Scratch> scratch_;
  VmLayout vm_;
  NameStore names_;
  JavaThread thread_;
  ucontext_t context_{};
  Answer answer_;
};

TEST_F(CallTrace, NamesTheMethodsBehindTheirIds) {
  const FakeMethod leaf("java/lang/Math", "fma", "(DDD)D");
  const FakeMethod root("Known", "main", "()V");
  const std::uint64_t leaf_slot = leaf.address();
  const std::uint64_t root_slot = root.address();
  answer_.count = 2;
  answer_.frames = {{17, &leaf_slot}, {-3, &root_slot}};

  const WalkedStack stack = walk();

  ASSERT_EQ(stack.depth, 2U);
  EXPECT_EQ(stack.error, ErrorFrame::kNone);
  EXPECT_EQ(wire::frame_kind(scratch_->frames[0]), FrameKind::kJava);
  EXPECT_EQ(wire::frame_bci(scratch_->frames[0]), 17U);
  EXPECT_EQ(wire::frame_bci(scratch_->frames[1]), wire::kNoBci);
  EXPECT_NE(wire::frame_name(scratch_->frames[0]), wire::frame_name(scratch_->frames[1]));
  EXPECT_EQ(answer_.env, &thread_.env);
  EXPECT_EQ(answer_.depth, 1024);
}

TEST_F(CallTrace, SaysWhyThereIsNoStack) {
  constexpr std::array<std::pair<std::int32_t, ErrorFrame>, 6> kCodes = {{
      {-2, ErrorFrame::kGcActive},
      {-4, ErrorFrame::kBrokenStack},
      {-5, ErrorFrame::kNotWalkable},
      {-8, ErrorFrame::kThreadExiting},
      {-9, ErrorFrame::kInDeopt},
      {-77, ErrorFrame::kUnsafeState},
  }};
  for (const auto& [code, error] : kCodes) {
    answer_.count = code;
    const WalkedStack stack = walk();
    EXPECT_EQ(stack.error, error) << code;
    EXPECT_EQ(only_error(stack), error) << code;
  }
}

TEST_F(CallTrace, TakesAThreadWithoutJavaFramesForNoFailure) {
  answer_.count = -3;
  const WalkedStack stack = walk();

  EXPECT_EQ(stack.error, ErrorFrame::kNone);
  EXPECT_EQ(only_error(stack), ErrorFrame::kNoJavaFrames);
}

TEST_F(CallTrace, AsksNothingAboutAThreadInTheMaking) {
  thread_.state = kNew;
  answer_.count = 1;

  EXPECT_EQ(walk().error, ErrorFrame::kUnsafeState);
  EXPECT_EQ(answer_.env, nullptr);
}

TEST_F(CallTrace, MarksMethodsThatAreGone) {
  const std::uint64_t emptied = 0;
  answer_.count = 2;
  answer_.frames = {{1, &emptied}, {2, nullptr}};

  EXPECT_EQ(walk().error, ErrorFrame::kNoMethod);
  EXPECT_EQ(wire::frame_kind(scratch_->frames[1]), FrameKind::kError);
}

class CallTraceFault : public CallTrace {
 protected:
  void SetUp() override {
    sampler_.scratch = scratch_.get();
    sampler_.scratch_count = 1;
    sampler_.call_trace = reinterpret_cast<void*>(fault);
    sampler_.header = reinterpret_cast<wire::RegionHeader*>(header_.data());
    std::uint64_t owner = 0;
    ASSERT_EQ(install_handlers(SIGPROF, &owner), InstallError::kNone);
    publish(&sampler_);
  }
  void TearDown() override {
    withdraw();
    restore_handlers();
  }

  Sampler sampler_;
  std::array<std::uint64_t, wire::kRegionHeaderBytes / 8> header_{};
};

TEST_F(CallTraceFault, InTheJvmCostsTheStackOnly) {
  scratch_->tid = ::gettid();

  for (int i = 0; i < 3; ++i) {
    const WalkedStack stack = walk(fault);
    EXPECT_EQ(only_error(stack), ErrorFrame::kFault);
    EXPECT_EQ(scratch_->guarded_sp, 0U);
  }
  EXPECT_EQ(counter(sampler_, wire::Counter::kFaults), 3U);
}

TEST_F(CallTraceFault, OfAnotherThreadIsNotTakenForIt) {
  scratch_->tid = 1; // never this process, nor the one that dies for the test

  EXPECT_DEATH(walk(fault), ""); // by the signal, or by the sanitizer that handles it
}

} // namespace
} // namespace jprof::agent::sampling
