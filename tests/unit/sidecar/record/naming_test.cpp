// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/capture_job.h"
#include "sidecar/record/capture_outcome.h"
#include "sidecar/record/capture_progress.h"
#include "sidecar/record/frame_namer.h"
#include "sidecar/record/hot_methods.h"
#include "sidecar/record/recorder_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace jprof::record {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(JavaClassLabel, IsDotted) {
  EXPECT_EQ(java_class_label("java/lang/String"), "java.lang.String");
  EXPECT_EQ(java_class_label("a/B$C"), "a.B$C");
  EXPECT_EQ(java_class_label(""), "");
}

TEST(JavaClassLabel, LosesTheAddressOfAHiddenClass) {
  EXPECT_EQ(java_class_label("a/B$$Lambda$14+0x0000000800c03000"), "a.B$$Lambda$14");
  EXPECT_EQ(java_class_label("a/B$$Lambda$14/0x0000000800c03000"), "a.B$$Lambda$14");
  EXPECT_EQ(java_class_label("a/B$$Lambda.0x00007f0104001000"), "a.B$$Lambda");
  EXPECT_EQ(java_class_label("a/X0xff"), "a.X0xff");
  EXPECT_EQ(java_class_label("a/0x"), "a.0x");
}

TEST(ErrorFrameLabel, IsAnotherForEachCause) {
  std::set<std::string_view> labels;
  const auto last = static_cast<std::uint64_t>(wire::ErrorFrame::kJumpedOut);
  for (std::uint64_t payload = 0; payload <= last; ++payload) {
    labels.insert(error_frame_label(payload));
  }
  EXPECT_EQ(labels.size(), last + 1);
  EXPECT_EQ(error_frame_label(static_cast<std::uint64_t>(wire::ErrorFrame::kNotWalkable)),
            "[not_walkable]");
  EXPECT_EQ(error_frame_label(last + 1), error_frame_label(UINT64_MAX));
}

TEST(KernelFrameLabel, NamesPageFaults) {
  EXPECT_EQ(kernel_frame_label(static_cast<std::uint64_t>(wire::KernelFrame::kSystemCall)),
            "[kernel]");
  EXPECT_EQ(kernel_frame_label(static_cast<std::uint64_t>(wire::KernelFrame::kPageFault)),
            "[kernel: page fault]");
  EXPECT_EQ(kernel_frame_label(UINT64_MAX), "[kernel]") << "what a newer agent may say";
}

TEST(HotMethods, PutsTheKindsOfOneMethodTogether) {
  HotMethods hot;
  hot.add(profile::FrameId{0}, 10); // a, interpreted
  hot.add(profile::FrameId{2}, 25); // b
  hot.add(profile::FrameId{5}, 20); // a, compiled
  const auto name_of = [](profile::FrameId id) -> std::string_view {
    return id == profile::FrameId{2} ? "b" : "a";
  };

  const std::vector<MethodShare> top = hot.top(10, name_of);

  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0].name, "a");
  EXPECT_EQ(top[0].weight, 30U);
  EXPECT_EQ(top[0].samples, 2U);
  EXPECT_EQ(hot.top(1, name_of).size(), 1U);
}

TEST(EarlyEnd, IsEmptyForOrdinaryEnds) {
  EXPECT_EQ(early_end(wire::StopReason::kAsked).cause, "");
  EXPECT_EQ(early_end(wire::StopReason::kDeadline).cause, "");
  EXPECT_NE(early_end(wire::StopReason::kOverhead).cause, "");
  EXPECT_THAT(early_end(static_cast<wire::StopReason>(99)).cause, HasSubstr("99"));
}

CaptureOutcome example_outcome() {
  CaptureOutcome outcome;
  outcome.event = "cpu";
  outcome.engine = "cpu-timer";
  outcome.walker = "vmstructs";
  outcome.duration = std::chrono::seconds(10);
  outcome.interval = std::chrono::milliseconds(1);
  outcome.interval_got = std::chrono::milliseconds(4);
  outcome.samples = 200;
  outcome.weight = 800'000'000;
  outcome.signals = 203;
  outcome.accounted = true;
  outcome.losses = {{"ring full", 3, 0}};
  outcome.hottest = {{"a.B.c\x1b[31m", 150, 600'000'000}};
  return outcome;
}

TEST(CaptureOutcome, IsWhatAManifestSaysOfIt) {
  CaptureOutcome outcome = example_outcome();
  outcome.skipped_deliveries = {"shared volume: none is configured"};
  outcome.tick = std::chrono::milliseconds(4);

  const capture::Measured measured = measured_of(outcome);

  EXPECT_EQ(measured.samples, 200U);
  EXPECT_EQ(measured.weight_ns, 800'000'000U);
  EXPECT_EQ(measured.lost(), 3U);
  EXPECT_EQ(measured.tick, outcome.tick);
  EXPECT_EQ(measured.skipped, outcome.skipped_deliveries);
  ASSERT_EQ(measured.hottest.size(), 1U);
  EXPECT_EQ(measured.hottest[0].name, outcome.hottest[0].name);
}

TEST(ProgressText, LetsNoNameMoveTheCursor) {
  CaptureProgress progress;
  progress.phase = CapturePhase::kRecording;
  progress.duration = std::chrono::seconds(10);
  progress.samples = 7;
  progress.hottest = {{"a\x1b[2J\rb", 7, 7}};

  const std::string text = progress_text(progress);

  EXPECT_THAT(text, HasSubstr("7 samples, hottest a\\x1b[2J"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(CaptureOutcome, HasTheExitCodeOfItsWorstPart) {
  CaptureOutcome outcome = example_outcome();
  EXPECT_EQ(outcome.exit_code(), 0);
  outcome.interrupted = true;
  EXPECT_EQ(outcome.exit_code(), 0);
  outcome.partial = true;
  EXPECT_EQ(outcome.exit_code(), 6);
  outcome.file_errors.push_back(base::make_error(base::ErrorCode::kIo, "disk full"));
  EXPECT_EQ(outcome.exit_code(), 7);
}

TEST(RunCapture, RefusesWhatItCannotDoBeforeItTouchesAnything) {
  const auto refused = [](auto change) {
    CaptureRequest request;
    request.directory = "/nonexistent";
    change(request);
    return run_capture(request, {}, {}).error().code;
  };

  using base::ErrorCode;
  EXPECT_EQ(refused([](auto& r) { r.event = "alloc"; }), ErrorCode::kUsage);
  EXPECT_EQ(refused([](auto& r) { r.duration = std::chrono::seconds(0); }), ErrorCode::kUsage);
  EXPECT_EQ(refused([](auto& r) { r.interval = std::chrono::nanoseconds(5); }), ErrorCode::kUsage);
  EXPECT_EQ(refused([](auto& r) { r.formats = {"docx"}; }), ErrorCode::kUsage);
  EXPECT_EQ(refused([](auto& r) { r.walker = "moonwalk"; }), ErrorCode::kUsage);
}

} // namespace
} // namespace jprof::record
