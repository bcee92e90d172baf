// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sidecar/record/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <stop_token>
#include <thread>
#include <vector>

// A region is some hundred KiB, but what it says may be gigabytes of work.
namespace jprof::record {
namespace {

using namespace std::chrono_literals;
using jprof::testing::RegionShape;
using jprof::testing::ScriptedAgent;
using ::testing::HasSubstr;

std::uint64_t frames_of_all_stacks(const profile::Profile& profile) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < profile.stack_count(); ++at) {
    sum += profile.stack(static_cast<profile::StackId>(at)).size();
  }
  return sum;
}

std::byte* arena_of_stacks(Agent& agent) {
  for (const wire::Section& section : agent.region().header().sections) {
    if (section.kind == static_cast<std::uint32_t>(wire::SectionKind::kStacks0)) {
      return agent.region().bytes().data() + section.offset;
    }
  }
  return nullptr;
}

TEST(HostileWork, OverlappingStacksArePaidForOnce) {
  constexpr std::uint64_t kWords = 8192;
  constexpr std::uint64_t kDepth = 2000;
  constexpr std::uint32_t kStacks = 1000;
  RegionShape shape;
  shape.stack_bytes = kWords * 8;
  ScriptedAgent agent(
      [](Agent& a) {
        a.region().add_name("a/B", "c");
        // Each word is the head of one stack and a frame of many others, no two of them equal.
        for (std::uint64_t word = 1; word < kWords; ++word) {
          const std::uint64_t value =
              (1 + word * word % 4) << 60U | kDepth << 32U | std::uint64_t{1};
          std::memcpy(arena_of_stacks(a) + word * 8, &value, sizeof(value));
        }
        for (std::uint32_t stack = 1; stack <= kStacks; ++stack) {
          a.region().add_sample({.stack = stack});
        }
        a.send_started();
        a.send_stopped(wire::StopReason::kDeadline);
      },
      shape);

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  EXPECT_EQ(recorded.result->samples, kStacks);
  EXPECT_GE(recorded.result->damaged, kStacks - kWords / kDepth);
  EXPECT_LE(frames_of_all_stacks(recorded.read().profile), kWords);
}

TEST(HostileWork, AStackDeeperThanAskedIsRefused) {
  RegionShape shape;
  shape.stack_bytes = 64U << 10;
  ScriptedAgent agent(
      [](Agent& a) {
        const wire::Frame frame = java(a.region().add_name("a/B", "c"));
        const std::uint32_t deepest = a.region().add_stack(std::vector<wire::Frame>(102, frame));
        const std::uint32_t deeper = a.region().add_stack(std::vector<wire::Frame>(103, frame));
        a.region().add_sample({.stack = deepest});
        a.region().add_sample({.stack = deeper});
        a.send_started();
        a.send_stopped(wire::StopReason::kDeadline);
      },
      shape);
  RecorderOptions options = quick_options();
  options.max_depth = 100; // a walk's own last word and a cut's mark come on top

  const Recorded recorded = run(agent, options);

  ASSERT_TRUE(recorded.result);
  EXPECT_EQ(recorded.result->samples, 2U);
  EXPECT_EQ(recorded.result->damaged, 1U);
  EXPECT_EQ(samples_by_stack(recorded.read().profile)["[damaged]"], 1U);
}

// One sample, one address, and naming each takes a while.
void add_samples_to_name(Agent& agent, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::array frames{wire::make_frame(wire::FrameKind::kNative, 0x1000 + i)};
    agent.region().add_sample({.stack = agent.region().add_stack(frames)});
  }
}

RecorderInput slow_to_name(std::atomic<unsigned>& named, const std::function<void()>& at_first) {
  RecorderInput input;
  input.native.namer = [&named, at_first](std::uint64_t address, std::uint64_t) {
    if (named++ == 0) {
      at_first();
    }
    std::this_thread::sleep_for(5ms);
    return NativeName{"native_" + std::to_string(address), "/lib/x.so", "", false};
  };
  return input;
}

TEST(HostileWork, AStopIsHeardInTheMiddleOfADrain) {
  constexpr unsigned kSamples = 1000; // five seconds of naming
  std::stop_source stop;
  std::atomic<unsigned> named{0};
  std::atomic<unsigned> named_at_stop{kSamples};
  ScriptedAgent agent([&](Agent& a) {
    add_samples_to_name(a, kSamples);
    a.send_started();
    while (!a.stop_seen() && !a.hung_up()) {
      a.hear(1000ms);
    }
    named_at_stop = named.load();
    a.send_stopped(wire::StopReason::kAsked);
  });
  RecorderInput input = slow_to_name(named, [&stop] { stop.request_stop(); });
  input.stop = stop.get_token();

  const Recorded recorded = run(agent, quick_options(), std::move(input));

  ASSERT_TRUE(recorded.result);
  EXPECT_LT(named_at_stop, kSamples / 2);
  EXPECT_TRUE(recorded.result->interrupted);
  EXPECT_EQ(recorded.result->samples + recorded.result->left_out, kSamples);
}

// The rest of one reading is worked off at the beginning of the next, while the JVM goes on.
TEST(HostileWork, ASampleThatIsWrittenDuringADrainIsSane) {
  constexpr unsigned kSamples = 60; // of 5 ms: three slices
  std::atomic<unsigned> named{0};
  ScriptedAgent agent([&](Agent& a) {
    add_samples_to_name(a, kSamples);
    a.send_started();
    while (named.load() < kSamples && !a.hung_up()) {
      std::this_thread::sleep_for(1ms);
      timespec now{};
      ::clock_gettime(CLOCK_MONOTONIC, &now);
      const std::uint64_t ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                               static_cast<std::uint64_t>(now.tv_nsec);
      a.region().add_sample({.time_ns = ns - a.region().header().start_mono_ns, .stack = 1});
    }
    a.send_stopped(wire::StopReason::kDeadline);
  });

  const Recorded recorded = run(agent, quick_options(), slow_to_name(named, [] {}));

  ASSERT_TRUE(recorded.result);
  EXPECT_GT(recorded.result->samples, kSamples);
  EXPECT_EQ(recorded.result->damaged, 0U);
}

TEST(HostileWork, WhatThereIsNoTimeToReadIsCountedAndSaid) {
  constexpr unsigned kSamples = 1000;
  std::atomic<unsigned> named{0};
  ScriptedAgent agent([](Agent& a) {
    add_samples_to_name(a, kSamples);
    a.send_started();
    a.send_stopped(wire::StopReason::kDeadline);
  });
  RecorderOptions options = quick_options();
  options.last_read_timeout = 200ms;

  const Recorded recorded = run(agent, options, slow_to_name(named, [] {}));

  ASSERT_TRUE(recorded.result);
  EXPECT_GT(recorded.result->left_out, 0U);
  EXPECT_EQ(recorded.result->samples + recorded.result->left_out, kSamples);
  EXPECT_TRUE(recorded.result->accounted);
  const std::string left_out = std::to_string(recorded.result->left_out) + " samples are missing";
  EXPECT_THAT(recorded.result->info.partial_reason, HasSubstr(left_out));
  EXPECT_TRUE(recorded.read().health.complete);
}

} // namespace
} // namespace jprof::record
