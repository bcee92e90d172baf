// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/summary.h"

#include <gtest/gtest.h>

namespace jprof::capture {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Measured sample() {
  Measured out;
  out.pid = 7;
  out.java_version = "17.0.9";
  out.event = "cpu";
  out.engine = "ctimer";
  out.walker = "vmstructs";
  out.duration = seconds(60);
  out.interval = milliseconds(10);
  out.interval_got = std::chrono::microseconds(10020);
  out.samples = 12345;
  out.nominal_samples = 5;
  out.error_samples = 3;
  out.error_reasons = {{"[truncated]", 2}, {"[broken_stack]", 1}};
  out.max_depth = 2048;
  out.rests = 4;
  out.weight_ns = 1000;
  out.accounted = true;
  out.losses = {{"ring full", 2, 20}, {"no thread", 0, 0}};
  out.process_cpu = seconds(100);
  out.threads = 31;
  out.coverage = {.process = seconds(100),
                  .samples = seconds(98),
                  .handlers = milliseconds(200),
                  .agent = seconds(1),
                  .tolerance = milliseconds(50)};
  out.old_code = seconds(0);
  out.warnings = {"half of it is missing"};
  out.cost.total = milliseconds(250);
  out.cost.limit_permille = 20;
  out.hottest = {{"a.b.C.d", 9, 310}};
  out.residue = {"something is on until the JVM ends"};
  out.notes = {"an agent was resident"};
  out.skipped = {"shared volume: none is configured"};
  return out;
}

TEST(Measured, SurvivesTheWay) {
  const Measured there = sample();

  const Measured back = measured_from_json(measured_json(there));

  EXPECT_EQ(measured_json(back), measured_json(there));
  EXPECT_EQ(back.lost(), 2U);
  ASSERT_EQ(back.error_reasons.size(), 2U);
  EXPECT_EQ(back.error_reasons[1].frame, "[broken_stack]");
}

TEST(Measured, TellsHowTimersWereShared) {
  Measured there = sample();
  there.threads_unarmed = 88;
  there.timers_refused = 148;
  there.timers_moved = 46;

  const base::Json json = measured_json(there);

  EXPECT_EQ(json.at("threadsUnarmed"), 88);
  EXPECT_EQ(json.at("timersRefused"), 148);
  EXPECT_EQ(json.at("timersMoved"), 46);
  EXPECT_EQ(measured_from_json(json).timers_moved, 46U);
  EXPECT_NE(summary_text(there).find("; 88 more never had a timer\n"), std::string::npos)
      << summary_text(there);
}

TEST(Measured, TellsOfOldCodeWhatIsKnown) {
  Measured there = sample();
  there.old_code.reset();
  EXPECT_EQ(measured_from_json(measured_json(there)).old_code, std::nullopt);
  EXPECT_NE(summary_text(there).find("  old code  unknown"), std::string::npos);

  there.old_code = seconds(49);
  EXPECT_EQ(measured_from_json(measured_json(there)).old_code, seconds(49));
  EXPECT_NE(summary_text(there).find("  old code  50.0 % of the samples' time is in code compiled "
                                     "before the capture: lines and inlined methods there may be "
                                     "missing; start the JVM with"),
            std::string::npos)
      << summary_text(there);

  there.old_code = seconds(0);
  EXPECT_EQ(measured_from_json(measured_json(there)).old_code, seconds(0));
  EXPECT_EQ(summary_text(there).find("old code"), std::string::npos);
}

TEST(Summary, SaysOfASalvagedCaptureWhatIsKnown) {
  Measured measured;
  measured.salvaged = true;
  measured.event = "cpu";
  measured.engine = "cpu-timer";
  measured.walker = "vmstructs";
  measured.duration = seconds(12);
  measured.interval = milliseconds(10);
  measured.samples = 294;
  measured.threads = 3;

  const std::string text = summary_text(measured_from_json(measured_json(measured)));

  EXPECT_NE(text.find("294 in 12.0 s, 3 threads"), std::string::npos) << text;
  EXPECT_EQ(text.find("do not add up"), std::string::npos) << text;
  EXPECT_EQ(text.find("nothing ran"), std::string::npos) << text;
  EXPECT_NE(text.find("not known"), std::string::npos) << text;
}

TEST(Measured, ReadsAnythingElseAsNothing) {
  for (const char* text : {"[]", "3", "{\"samples\":\"x\",\"losses\":[1,{}],\"hottest\":{}}",
                           "{\"samples\":-5,\"notes\":[1]}"}) {
    EXPECT_EQ(measured_from_json(base::Json::parse(text)).samples, 0U) << text;
  }
}

TEST(Summary, SaysWhatAPersonWantsToKnow) {
  const std::string text = summary_text(sample());

  EXPECT_EQ(
      text,
      "  WARNING   half of it is missing\n"
      "  jvm       17.0.9, pid 7\n"
      "  samples   12,345 in 60.0 s, 31 threads; 3 without a whole stack ([truncated] 2, 0.02 %: "
      "deeper than 2,048 frames, of which the outermost are cut off; [broken_stack] 1, 0.01 %)\n"
      "  lost      2 (ring full 2)\n"
      "  cpu time  100 s used by the JVM: 98.0 s in samples (200 ms of it in handlers), 1.00 s "
      "in the agent's thread, 1.00 s (1.0 %) in none of these\n"
      "  rate      cpu every 10.0 ms asked, 10.0 ms got; engine ctimer, walker vmstructs\n"
      "  cost      250 ms CPU in the JVM, 0.25 % of what it used; longest handler 0 ns\n"
      "  stays     something is on until the JVM ends\n"
      "  note      an agent was resident\n"
      "hottest methods (self, with the 95 % range)\n"
      "   31.0 % (30.2 to 31.8)  a.b.C.d\n");
}

// 95 of 100 such captures have the truth in their range; published values of Wilson's interval.
TEST(Summary, SaysHowFarAShareCanBeTrusted) {
  Measured measured = sample();
  measured.samples = 100;
  measured.weight_ns = 1000;
  measured.hottest = {{"half", 50, 500}, {"never", 0, 0}, {"all", 100, 1000}};

  const std::string text = summary_text(measured);

  EXPECT_NE(text.find(" 50.0 % (40.4 to 59.6)  half\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  0.0 % (0.0 to 3.7)  never\n"), std::string::npos) << text;
  EXPECT_NE(text.find("100.0 % (96.3 to 100.0)  all\n"), std::string::npos) << text;
  measured.samples = 0;
  EXPECT_EQ(summary_text(measured).find("hottest"), std::string::npos);
}

TEST(Summary, TellsOfSkippedDeliveriesOnlyWhenAskedForAll) {
  EXPECT_EQ(summary_text(sample()).find("shared volume"), std::string::npos);
  EXPECT_NE(
      summary_text(sample(), Detail::kFull).find("skipped   shared volume: none is configured"),
      std::string::npos);
}

TEST(Summary, SaysThatAFewSamplesAreTooFew) {
  Measured measured = sample();
  EXPECT_EQ(summary_text(measured).find("too few"), std::string::npos);
  measured.samples = 2;
  measured.interval_got = std::chrono::nanoseconds(0);

  const std::string text = summary_text(measured);

  EXPECT_NE(text.find("hottest methods (self, with the 95 % range): 2 samples are too few to say"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("every 10.0 ms asked, too few samples to say what was got"),
            std::string::npos)
      << text;
  measured.samples = 1;
  EXPECT_NE(summary_text(measured).find(": 1 sample is too few"), std::string::npos);
}

TEST(Summary, DoesNotCallWhatNobodyMeasuredNothing) {
  Measured measured = sample();
  measured.signals = 12345;
  EXPECT_NE(summary_text(measured).find("longest handler not measured"), std::string::npos);
  measured.cost.longest_handler = std::chrono::microseconds(7);
  EXPECT_NE(summary_text(measured).find("longest handler 7.00 us"), std::string::npos);
}

TEST(Summary, GivesNoShareOfALeastTotal) {
  Measured measured = sample();
  measured.coverage.at_least = true;

  const std::string text = summary_text(measured);

  EXPECT_NE(text.find("at least 100 s used by the JVM"), std::string::npos) << text;
  EXPECT_NE(text.find("1.00 s in none of these"), std::string::npos) << text;
  EXPECT_NE(text.find("cost      250 ms CPU in the JVM; longest handler"), std::string::npos)
      << text;
}

TEST(Summary, SaysWhatTheKernelMadeOfTheInterval) {
  Measured measured = sample();
  measured.interval = milliseconds(1);
  measured.tick = milliseconds(4);

  EXPECT_NE(summary_text(measured).find("the kernel looks at its timers every 4.00 ms"),
            std::string::npos);
}

// "Nothing ran" is said only where the process's own clock says so.
TEST(Summary, NeverSaysThatNothingRanWhenTheProcessUsedCpu) {
  Measured measured = sample();
  measured.samples = 0;
  measured.interval_got = std::chrono::nanoseconds(0);
  measured.coverage.samples = std::chrono::nanoseconds(0);

  EXPECT_EQ(summary_text(measured).find("nothing ran"), std::string::npos);
  EXPECT_NE(summary_text(measured).find("asked, no sample got"), std::string::npos);
  measured.coverage = {}; // not known
  EXPECT_EQ(summary_text(measured).find("nothing ran"), std::string::npos);
  measured.coverage = {.process = milliseconds(3), .agent = milliseconds(3)};
  EXPECT_NE(summary_text(measured).find("asked, no sample got, since nothing ran"),
            std::string::npos);
}

TEST(Summary, SaysThatItWasStoppedAndWhenCountsDoNotAddUp) {
  Measured measured = sample();
  measured.interrupted = true;
  measured.accounted = false;

  const std::string text = summary_text(measured);

  EXPECT_NE(text.find("stopped   as asked"), std::string::npos);
  EXPECT_NE(text.find("do not add up"), std::string::npos);
}

TEST(Summary, LetsNoNameMoveTheCursor) {
  Measured measured = sample();
  measured.hottest[0].name = "evil\x1b[2J\nline";
  measured.engine = "\r\x07";

  const std::string text = summary_text(measured);

  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_NE(text.find("evil\\x1b[2J\\nline"), std::string::npos);
}

} // namespace
} // namespace jprof::capture
