// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/rest.h"
#include "tests/unit/sidecar/record/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace jprof::record {
namespace {

using namespace std::chrono_literals;
using jprof::testing::RegionShape;
using jprof::testing::ScriptedAgent;

TEST(Recorder, WritesWhatTheAgentSampled) {
  ScriptedAgent agent([](Agent& a) {
    a.region().set_thread(3, 107, "worker", 2'000'000);
    const std::uint32_t stack = java_stack(a, "checkout");
    a.send_started();
    for (std::uint64_t i = 0; i < 5; ++i) {
      a.region().add_sample({.time_ns = i * 1000, .thread = 3, .tid = 107, .stack = stack});
    }
    a.send_stopped(wire::StopReason::kDeadline);
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result) << recorded.result.error().text();
  EXPECT_EQ(recorded.result->samples, 5U);
  EXPECT_EQ(recorded.result->weight, 50'000'000U);
  EXPECT_TRUE(recorded.result->accounted);
  EXPECT_FALSE(recorded.result->info.partial) << recorded.result->info.partial_reason;
  ASSERT_EQ(recorded.result->hottest.size(), 1U);
  EXPECT_EQ(recorded.result->hottest[0].name, "com.acme.Shop.checkout");
  const profile::Recording file = recorded.read();
  EXPECT_TRUE(file.health.complete) << file.health.problem;
  EXPECT_EQ(
      samples_by_stack(file.profile),
      (std::map<std::string, std::uint64_t>{{"java.lang.Thread.run;com.acme.Shop.checkout", 5}}));
  const profile::Thread& thread = file.profile.thread(file.profile.event().samples[0].thread);
  EXPECT_EQ(file.profile.string(thread.name), "worker");
  EXPECT_EQ(thread.tid, 107U);
  EXPECT_EQ(thread.java_id, 1070U);
  EXPECT_EQ(thread.cpu, 2ms);
  EXPECT_EQ(file.profile.event_info().engine, "cpu-timer");
  EXPECT_EQ(file.profile.event_info().walker, "vmstructs");
  EXPECT_EQ(file.profile.event_info().interval_got, 10ms);
}

TEST(Recorder, AsksTheAgentForWhatItWasAsked) {
  wire::StartMessage seen{};
  ScriptedAgent agent([&seen](Agent& a) {
    seen = a.start();
    a.send_started();
    a.send_stopped(wire::StopReason::kDeadline);
  });
  RecorderOptions options = quick_options();
  options.interval = 1ms;
  options.duration = 3s;
  options.max_depth = 77;

  ASSERT_TRUE(run(agent, options).result);

  EXPECT_EQ(seen.interval_ns, 1'000'000U);
  EXPECT_EQ(seen.duration_ns, 3'000'000'000U);
  EXPECT_EQ(seen.max_depth, 77U);
  EXPECT_EQ(seen.region_bytes, 1U << 20);
}

TEST(Recorder, DrainsARingManyTimesOverWithoutLoss) {
  constexpr std::uint64_t kSamples = 1500;
  RegionShape shape;
  shape.ring_slots = 64;
  ScriptedAgent agent(
      [](Agent& a) {
        const std::uint32_t stack = java_stack(a, "busy");
        a.send_started();
        for (std::uint64_t i = 0; i < kSamples;) {
          const auto& header = a.region().header();
          if (header.ring_head - header.ring_tail < 64) {
            a.region().add_sample({.time_ns = i++, .stack = stack});
          } else if (!a.hear(5000ms)) {
            return;
          }
        }
        a.send_stopped(wire::StopReason::kDeadline);
      },
      shape);
  RecorderOptions options = quick_options();
  options.drain_period = 2ms;

  const Recorded recorded = run(agent, options);

  ASSERT_TRUE(recorded.result) << recorded.result.error().text();
  EXPECT_EQ(recorded.result->samples, kSamples);
  EXPECT_TRUE(recorded.result->accounted);
  EXPECT_EQ(recorded.read().profile.event().samples.size(), kSamples);
}

TEST(Recorder, CountsWhatAFullRingLost) {
  RegionShape shape;
  shape.ring_slots = 8;
  ScriptedAgent agent(
      [](Agent& a) {
        const std::uint32_t stack = java_stack(a, "busy");
        for (int i = 0; i < 20; ++i) { // before the sidecar reads for the first time
          a.region().add_sample({.weight = 7, .stack = stack});
        }
        a.send_started();
        a.send_stopped(wire::StopReason::kDeadline);
      },
      shape);

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  EXPECT_EQ(recorded.result->samples, 8U);
  EXPECT_TRUE(recorded.result->accounted);
  ASSERT_EQ(recorded.result->info.events.front().losses.size(), 1U);
  EXPECT_EQ(recorded.result->info.events.front().losses[0].reason, "ring full");
  EXPECT_EQ(recorded.result->info.events.front().losses[0].samples, 12U);
  EXPECT_EQ(recorded.result->info.events.front().losses[0].weight, 84U);
  ASSERT_EQ(recorded.result->info.events.front().gaps.size(), 1U);
  EXPECT_EQ(recorded.result->info.events.front().gaps[0].samples, 12U);
  EXPECT_EQ(recorded.read().profile.event_info().gaps.size(), 1U);
}

// The two generations flip many times and every offset comes to mean another method: a name that
// outlives its generation would show as a wrong stack.
TEST(Recorder, NeverGivesAnOldGenerationsNameToANewStack) {
  constexpr int kRounds = 30;
  ScriptedAgent agent([](Agent& a) {
    a.send_started();
    for (int round = 0; round < kRounds; ++round) {
      const std::uint32_t stack = java_stack(a, "round" + std::to_string(round));
      for (int i = 0; i <= round; ++i) {
        a.region().add_sample({.stack = stack});
      }
      while (!a.region().flip()) { // the other slot is not yet acknowledged
        if (!a.hear(5000ms)) {
          return;
        }
      }
    }
    a.send_stopped(wire::StopReason::kDeadline);
  });
  RecorderOptions options = quick_options();
  options.drain_period = 2ms;

  const Recorded recorded = run(agent, options);

  ASSERT_TRUE(recorded.result);
  EXPECT_TRUE(recorded.result->accounted);
  const auto by_stack = samples_by_stack(recorded.read().profile);
  ASSERT_EQ(by_stack.size(), static_cast<std::size_t>(kRounds));
  for (int round = 0; round < kRounds; ++round) {
    const std::string stack = "java.lang.Thread.run;com.acme.Shop.round" + std::to_string(round);
    EXPECT_EQ(by_stack.at(stack), static_cast<std::uint64_t>(round) + 1);
  }
}

TEST(Recorder, WaitsForASlowHandlerInOrder) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "slow");
    a.send_started();
    a.region().leave_slot_open({.time_ns = 1, .stack = stack});
    a.region().add_sample({.time_ns = 2, .stack = stack});
    while (a.drained_messages() < 3 && a.hear(5000ms)) {
    }
    EXPECT_EQ(a.region().header().ring_tail, 0U); // nothing behind the open slot is read
    a.region().complete_open_slot();
    while (a.region().header().ring_tail < 2 && a.hear(5000ms)) {
    }
    a.send_stopped(wire::StopReason::kDeadline);
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  EXPECT_EQ(recorded.result->samples, 2U);
  EXPECT_EQ(recorded.result->in_flight, 0U);
  EXPECT_TRUE(recorded.result->accounted);
}

// The agent starts before its answer is read, and a JVM that ends leaves only its last heartbeat.
TEST(Recorder, LastsFromTheAgentsStartToTheLastSample) {
  for (const std::chrono::nanoseconds last : {0ms, 40ms}) {
    std::uint64_t beat = 0;
    ScriptedAgent agent([&](Agent& a) {
      const std::uint64_t start = a.region().header().start_mono_ns;
      const std::uint32_t stack = java_stack(a, "x");
      a.send_started();
      a.region().add_sample({.time_ns = 1000, .stack = stack});
      while (a.region().header().ring_tail < 1 && a.hear(5000ms)) { // the recorder has begun
      }
      beat = static_cast<std::uint64_t>(
          std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
      a.region().header().heartbeat_mono_ns = beat - static_cast<std::uint64_t>(last.count());
      a.region().add_sample({.time_ns = beat - start, .stack = stack});
    });
    RecorderInput input;
    input.on_start = [] { std::this_thread::sleep_for(60ms); };

    const Recorded recorded = run(agent, quick_options(), input);

    ASSERT_TRUE(recorded.result);
    const auto file = recorded.read();
    ASSERT_FALSE(file.profile.event().samples.empty());
    const auto time = file.profile.event().samples.back().time;
    EXPECT_GE(time, 60ms);
    EXPECT_GE(recorded.result->info.duration + 100us, time); // times are in steps of 100 us
    EXPECT_LE(recorded.result->info.duration, time + 100us);
  }
}

TEST(Recorder, TellsProgressWithTheHottestMethods) {
  std::vector<CaptureProgress> seen;
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t hot = java_stack(a, "hot");
    const std::uint32_t warm = java_stack(a, "warm");
    for (int i = 0; i < 4; ++i) {
      a.region().add_sample({.stack = i < 3 ? hot : warm});
    }
    a.send_started();
    while (a.drained_messages() < 2 && a.hear(5000ms)) {
    }
    a.send_stopped(wire::StopReason::kDeadline);
  });
  RecorderInput input;
  input.progress = [&seen](const CaptureProgress& progress) { seen.push_back(progress); };

  ASSERT_TRUE(run(agent, quick_options(), input).result);

  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().samples, 4U);
  ASSERT_EQ(seen.back().hottest.size(), 2U);
  EXPECT_EQ(seen.back().hottest[0].name, "com.acme.Shop.hot");
  EXPECT_EQ(seen.back().hottest[0].weight, 30'000'000U);
}

TEST(Recorder, NeverDropsAnErrorFrame) {
  ScriptedAgent agent([](Agent& a) {
    auto& region = a.region();
    const auto error = [](wire::ErrorFrame frame) {
      return wire::kStackIsError | static_cast<std::uint32_t>(frame);
    };
    const std::array broken{
        java(region.add_name("a/B", "c")),
        wire::make_frame(wire::FrameKind::kError,
                         static_cast<std::uint64_t>(wire::ErrorFrame::kBrokenStack))};
    const std::uint32_t stack = region.add_stack(broken);
    a.send_started();
    region.add_sample({.stack = error(wire::ErrorFrame::kNotWalkable)});
    region.add_sample({.stack = error(wire::ErrorFrame::kGcActive)});
    region.add_sample({.stack = wire::kStackIsError | 0x7777U}); // of a newer agent
    region.add_sample({.stack = stack});
    region.add_sample({.stack = stack});
    a.send_stopped(wire::StopReason::kDeadline);
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  EXPECT_EQ(recorded.result->error_samples, 5U);
  std::vector<std::pair<std::string, std::uint64_t>> reasons;
  for (const ErrorReason& reason : recorded.result->error_reasons) {
    reasons.emplace_back(reason.label, reason.samples);
  }
  EXPECT_EQ(reasons, (std::vector<std::pair<std::string, std::uint64_t>>{{"[broken_stack]", 2},
                                                                         {"[gc_active]", 1},
                                                                         {"[not_walkable]", 1},
                                                                         {"[unknown_error]", 1}}));
  EXPECT_EQ(samples_by_stack(recorded.read().profile),
            (std::map<std::string, std::uint64_t>{{"[not_walkable]", 1},
                                                  {"[gc_active]", 1},
                                                  {"[unknown_error]", 1},
                                                  {"[broken_stack];a.B.c", 2}}));
}

TEST(Recorder, KeepsSamplesWhoseReferencesLeadNowhere) {
  ScriptedAgent agent([](Agent& a) {
    auto& region = a.region();
    const std::array frames{java(999'999), java(region.add_name("a/B", "ok"))};
    const std::uint32_t stack = region.add_stack(frames);
    a.send_started();
    region.add_sample({.stack = 0x7ffffff});
    region.add_sample({.stack = 0});
    region.add_sample({.stack = stack});
    a.send_stopped(wire::StopReason::kDeadline);
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  EXPECT_EQ(recorded.result->samples, 3U);
  EXPECT_EQ(samples_by_stack(recorded.read().profile),
            (std::map<std::string, std::uint64_t>{{"[damaged]", 2}, {"a.B.ok;[damaged]", 1}}));
}

TEST(Recorder, MarksCutStacks) {
  ScriptedAgent agent([](Agent& a) {
    auto& region = a.region();
    const std::array frames{java(region.add_name("a/B", "leaf")),
                            java(region.add_name("a/B", "root"))};
    const std::uint32_t deep =
        region.add_stack(frames, static_cast<std::uint16_t>(wire::StackFlag::kTruncated));
    const std::uint32_t middle =
        region.add_stack(frames, static_cast<std::uint16_t>(wire::StackFlag::kMiddleCut));
    a.send_started();
    region.add_sample({.stack = deep});
    region.add_sample({.stack = middle});
    a.send_stopped(wire::StopReason::kDeadline);
  });

  const auto by_stack = samples_by_stack(run(agent).read().profile);

  EXPECT_TRUE(by_stack.contains("[truncated];a.B.root;a.B.leaf"));
  EXPECT_TRUE(by_stack.contains("a.B.root;[cut];a.B.leaf"));
}

TEST(Recorder, LooksCallersUpOneByteBeforeTheirReturnAddress) {
  ScriptedAgent agent([](Agent& a) {
    const std::array frames{wire::make_frame(wire::FrameKind::kNative, 5000),
                            wire::make_frame(wire::FrameKind::kNative, 6000)};
    const std::uint32_t stack = a.region().add_stack(frames);
    a.send_started();
    a.region().add_sample({.stack = stack});
    a.send_stopped(wire::StopReason::kDeadline);
  });

  EXPECT_TRUE(samples_by_stack(run(agent).read().profile).contains("native_5999;native_5000"));
}

TEST(Recorder, ReadsANewerAgentsLongerRecords) {
  RegionShape shape;
  shape.extra_record_bytes = 64;
  ScriptedAgent agent(
      [](Agent& a) {
        a.region().set_thread(2, 9, "later");
        const std::uint32_t stack = java_stack(a, "new");
        a.send_started();
        for (int i = 0; i < 3; ++i) {
          a.region().add_sample({.thread = 2, .tid = 9, .stack = stack});
        }
        a.send_stopped(wire::StopReason::kDeadline);
      },
      shape);

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  const profile::Profile profile = recorded.read().profile;
  ASSERT_EQ(profile.event().samples.size(), 3U);
  EXPECT_EQ(profile.string(profile.thread(profile.event().samples[2].thread).name), "later");
}

// What no sample stands for is in the profile all the same, on its thread, once.
TEST(Recorder, WritesTheRestOfAThreadsTimeWithoutAStack) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "x");
    a.region().set_thread(0, 50, "sampled", 13'000'000);
    a.region().set_thread(1, 51, "short", 4'000'000);
    a.region().set_thread(2, 52, "liar", 5'000'000);
    a.region().set_thread(3, 53, "alive", 6'000'000);
    a.send_started();
    a.region().add_sample(
        {.time_ns = 1000, .weight = 10'000'000, .thread = 0, .tid = 50, .stack = stack});
    a.region().end_thread(0, 3'000'000, 9000);
    a.region().end_thread(1, 4'000'000, 9000);
    a.region().end_thread(2, UINT64_MAX, 9000); // no more than it has used
    while (a.region().header().ring_tail < 1 && a.hear(5000ms)) {
    }
    a.region().end_thread(0, 3'000'000, 9000); // read again
    a.send_stopped(wire::StopReason::kDeadline);
  });

  const Recorded recorded = run(agent);
  const auto file = recorded.read();
  const profile::Profile& profile = file.profile;

  std::map<std::string, std::uint64_t> weights;
  for (const profile::Sample& sample : profile.event().samples) {
    if (profile::is_rest(profile, sample.stack)) {
      weights[std::string(profile.string(profile.thread(sample.thread).name)) + ": " +
              std::string(profile.string(profile.frame(profile.stack(sample.stack)[0]).name))] +=
          sample.weight;
    }
  }
  EXPECT_EQ(weights,
            (std::map<std::string, std::uint64_t>{{"sampled: [after last sample]", 3'000'000},
                                                  {"short: [not sampled]", 4'000'000},
                                                  {"liar: [not sampled]", 5'000'000}}));
  EXPECT_EQ(profile.event().total_weight, 22'000'000U);
  EXPECT_EQ(profile.event().total_count, 1U); // a rest is time, and no sample
  EXPECT_EQ(recorded.result->weight, 22'000'000U);
  EXPECT_EQ(recorded.result->samples, 1U);
  EXPECT_EQ(recorded.result->rests.count, 3U);
  EXPECT_EQ(recorded.result->coverage.samples, 10ms);
  EXPECT_EQ(recorded.result->coverage.after_last, 3ms);
  EXPECT_EQ(recorded.result->coverage.not_sampled, 9ms);
  EXPECT_TRUE(recorded.result->accounted);
}

TEST(Recorder, TellsThreadsOfOneSlotApart) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "x");
    a.region().set_thread(1, 50, "first", 0, 1);
    a.send_started();
    a.region().add_sample({.thread = 1, .tid = 50, .stack = stack});
    while (a.region().header().ring_tail < 1 && a.hear(5000ms)) {
    }
    a.region().set_thread(1, 51, "second", 0, 2);
    a.region().add_sample({.thread = 1, .tid = 51, .stack = stack});
    a.send_stopped(wire::StopReason::kDeadline);
  });

  const profile::Profile profile = run(agent).read().profile;

  ASSERT_EQ(profile.event().samples.size(), 2U);
  std::map<std::uint32_t, std::string> names;
  for (const profile::Sample& sample : profile.event().samples) {
    const profile::Thread& thread = profile.thread(sample.thread);
    names[thread.tid] = profile.string(thread.name);
  }
  EXPECT_EQ(names, (std::map<std::uint32_t, std::string>{{50, "first"}, {51, "second"}}));
}

} // namespace
} // namespace jprof::record
