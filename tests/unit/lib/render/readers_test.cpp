// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/collapsed_writer.h"
#include "lib/render/left_out.h"
#include "lib/render/speedscope_reader.h"
#include "lib/render/thread_dump_reader.h"
#include "lib/render/thread_roots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace jprof;

constexpr std::string_view kDump =
    "2026-11-21 10:00:00\n"
    "Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):\n"
    "\n"
    "\"pool \"a\" #1\" #12 prio=5 os_prio=0 cpu=1.2ms tid=0x00007f nid=0x1b waiting on condition\n"
    "   java.lang.Thread.State: TIMED_WAITING (sleeping)\n"
    "\tat java.lang.Thread.sleep(java.base@17.0.15/Native Method)\n"
    "\t- locked <0x00000000> (a java.lang.Object)\n"
    "\tat app//com.acme.Main.run(Main.java:10)\n"
    "\n"
    "\"GC Thread#0\" os_prio=0 cpu=1ms tid=0x1 nid=0x1c runnable\n"
    "\n"
    "2026-11-21 10:00:02\n"
    "Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):\n"
    "\n"
    "\"pool \"a\" #1\" #12 prio=5 os_prio=0 cpu=1.2ms tid=0x00007f nid=0x1b runnable\n"
    "   java.lang.Thread.State: RUNNABLE\n"
    "\tat com.acme.Main.work(Main.java:20)\n"
    "\tat com.acme.Main.run(Main.java:10)\n"
    "\n";

TEST(ThreadDumps, GiveOneSampleForEachStackWithStateAndTime) {
  ASSERT_TRUE(render::looks_like_thread_dump(kDump));

  const auto profile = render::read_thread_dumps(kDump, "dump");

  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(render::write_collapsed(*profile),
            "com.acme.Main.run;com.acme.Main.work 1\ncom.acme.Main.run;java.lang.Thread.sleep 1\n");
  ASSERT_EQ(profile->event().samples.size(), 2U);
  EXPECT_EQ(profile->event().samples[0].state, profile::ThreadState::kSleeping);
  EXPECT_EQ(profile->event().samples[1].state, profile::ThreadState::kRunnable);
  EXPECT_EQ(profile->event().samples[1].time, std::chrono::seconds(2));
  EXPECT_EQ(profile->threads().size(), 1U);
  EXPECT_EQ(profile->string(profile->threads()[0].name), "pool \"a\" #1");
  EXPECT_EQ(profile->threads()[0].tid, 0x1bU);
  EXPECT_EQ(profile->event_info().name, "wall");
}

TEST(ThreadDumps, CountTimeFromTheEarliestWhateverTheirOrder) {
  const std::string dump = "Full thread dump OpenJDK\n\"main\" #1 tid=0x1 nid=0x1 runnable\n"
                           "   java.lang.Thread.State: RUNNABLE\n\tat a.B.c(B.java:1)\n\n";

  const auto profile = render::read_thread_dumps(
      "2026-11-21 10:00:06\n" + dump + "2026-11-21 10:00:00\n" + dump, "dumps");

  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->event().samples.size(), 2U);
  EXPECT_EQ(profile->event().samples[0].time, std::chrono::seconds(0));
  EXPECT_EQ(profile->event().samples[1].time, std::chrono::seconds(6));
  EXPECT_EQ(profile->info().duration, std::chrono::seconds(6));
}

TEST(ThreadDumps, WithoutAStackAreRefused) {
  const auto profile =
      render::read_thread_dumps("Full thread dump x\n\"GC Thread#0\" tid=0x1 runnable\n", "dump");

  ASSERT_FALSE(profile.has_value());
  EXPECT_EQ(profile.error().code, base::ErrorCode::kInvalidData);
}

constexpr std::string_view kSpeedscope = R"({
 "$schema": "https://www.speedscope.app/file-format-schema.json",
 "shared": {"frames": [{"name": "main"}, {"name": "work", "file": "a.c", "line": 3}]},
 "profiles": [
  {"type": "sampled", "name": "t1", "unit": "milliseconds", "startValue": 0, "endValue": 3,
   "samples": [[0], [0, 1]], "weights": [1, 2]},
  {"type": "evented", "name": "t2", "unit": "milliseconds", "startValue": 0, "endValue": 10,
   "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "O", "frame": 1, "at": 4},
              {"type": "C", "frame": 1, "at": 9}, {"type": "C", "frame": 0, "at": 10}]},
  {"type": "sampled", "name": "bytes", "unit": "bytes", "samples": [[0]], "weights": [7]}]})";

TEST(Speedscope, ReadsSampledAndEventedProfilesAsThreads) {
  ASSERT_TRUE(render::looks_like_speedscope(kSpeedscope));

  const auto profile = render::read_speedscope(kSpeedscope, "x");

  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(
      render::write_collapsed(render::with_thread_roots(*profile, render::ThreadRoots::kThread)),
      "[t1];main 1000000\n[t1];main;work 2000000\n"
      "[t2];main 5000000\n[t2];main;work 5000000\n");
  EXPECT_TRUE(profile->info().has_times);
  EXPECT_EQ(profile->info().facts.back().first, "profiles of other units");
}

TEST(Speedscope, GivesASampleTheEndOfItsSpan) {
  const auto profile = render::read_speedscope(kSpeedscope, "x");

  ASSERT_TRUE(profile.has_value());
  std::vector<std::int64_t> ends;
  for (const profile::Sample& sample : profile->event().samples) {
    ends.push_back(sample.time.count() / 1'000'000);
  }
  EXPECT_EQ(ends, (std::vector<std::int64_t>{1, 3, 4, 9, 10}));
}

std::string speedscope_of(const std::string& unit, const std::string& weights) {
  return R"({"shared":{"frames":[{"name":"a"},{"name":"b"},{"name":"c"}]},"profiles":[{"type":"sampled",)"
         R"("unit":")" +
         unit + R"(","samples":[[0],[1],[2]],"weights":[)" + weights + "]}]}";
}

TEST(Speedscope, KeepsTheSharesOfCountsWithDecimals) {
  const auto profile = render::read_speedscope(speedscope_of("none", "0.42,0.33,0.25"), "x");

  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(render::write_collapsed(*profile), "a 42\nb 33\nc 25\n");
  EXPECT_EQ(profile->info().facts.back().second,
            "100 times those in the text, which have decimals");
}

TEST(Speedscope, RefusesSamplesThatHaveNoWeight) {
  const auto profile = render::read_speedscope(speedscope_of("seconds", "1,2"), "x");

  ASSERT_FALSE(profile.has_value());
  EXPECT_THAT(profile.error().message, testing::HasSubstr("3 samples and 2 weights"));
}

TEST(Speedscope, SaysWhichValuesItIgnores) {
  const auto profile = render::read_speedscope(speedscope_of("seconds", "1,-2,1e300"), "x");

  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(render::write_collapsed(*profile), "a 1000000000\n");
  EXPECT_EQ(render::left_out_of(*profile),
            std::vector<std::string>{"ignored values: 2, the first is value 2: it is below 0"});
}

TEST(Speedscope, RefusesFramesThatAreNotThere) {
  for (
      const std::string_view text :
      {R"({"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","unit":"none","samples":[[1]]}]})",
       R"({"shared":{"frames":[]},"profiles":[]})", R"({"shared":1,"profiles":2})",
       R"({"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"x","unit":"none"}]})",
       R"({"shared":{"frames":[{}]},"profiles":[{"type":"evented","unit":"none","events":[3]}]})"}) {
    const auto profile = render::read_speedscope(text, "x");
    ASSERT_FALSE(profile.has_value()) << text;
    EXPECT_EQ(profile.error().code, base::ErrorCode::kInvalidData);
  }
}

} // namespace
