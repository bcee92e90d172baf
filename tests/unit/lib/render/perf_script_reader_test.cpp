// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/collapsed_writer.h"
#include "lib/render/perf_script_reader.h"

#include <gtest/gtest.h>

namespace {

using namespace jprof;

// Shape of `perf script` of perf 6.1: man perf-script, default fields.
constexpr std::string_view kText =
    "# captured on    : Sat Nov 21 10:00:00 2026\n"
    "C2 CompilerThre 100/102 [001]  50.000200:   10000000 cpu-clock:u: \n"
    "\t          401136 Compile::Optimize+0x12 (/opt/jdk/lib/server/libjvm.so)\n"
    "\t    7ffff7c8a1c4 start_thread+0x2c4 (/lib/x86_64-linux-gnu/libc.so.6)\n"
    "\n"
    "java 100/101 [000]  50.000100:   10000000 cpu-clock:u: \n"
    "\tffffffff81001234 do_syscall_64+0x5 ([kernel.kallsyms])\n"
    "\t    7fffe1001234 Lcom/acme/Foo;::bar+0x8 (/tmp/perf-100.map)\n"
    "\t    7fffe1001234 [unknown] (/usr/lib/libfoo.so)\n"
    "\n"
    "java 100/101 [000]  50.500000:   20000000 cpu-clock:u: \n"
    "\t    7fffe1001234 operator() (anonymous namespace)+0x8 (/tmp/perf-100.map)\n"
    "\n"
    "java 100/101 [000]  50.600000:          1 sched:sched_switch: prev_comm=java\n"
    "\t    7fffe1001234 x (/tmp/perf-100.map)\n"
    "\n";

TEST(PerfScript, ReadsStacksTimesThreadsAndKinds) {
  ASSERT_TRUE(render::looks_like_perf_script(kText));

  const auto profile = render::read_perf_script(kText, "perf");

  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(render::write_collapsed(*profile),
            "C2 CompilerThre;start_thread;Compile::Optimize 10000000\n"
            "java;[libfoo.so];Lcom/acme/Foo:::bar;do_syscall_64 10000000\n"
            "java;operator() (anonymous namespace) 20000000\n");
  EXPECT_EQ(profile->event_info().unit, profile::Unit::kNanoseconds);
  ASSERT_EQ(profile->event().samples.size(), 3U);
  EXPECT_EQ(profile->event().samples[0].time, std::chrono::nanoseconds(0));
  EXPECT_EQ(profile->event().samples[1].time, std::chrono::microseconds(100));
  EXPECT_EQ(profile->event().samples[2].time, std::chrono::microseconds(499900));
  EXPECT_EQ(profile->thread(profile->event().samples[1].thread).tid, 102U);
  EXPECT_EQ(profile->string(profile->thread(profile->event().samples[1].thread).name),
            "C2 CompilerThre");
  EXPECT_EQ(profile->frame(profile->stack(profile->event().samples[0].stack).back()).kind,
            profile::FrameKind::kKernel);
}

TEST(PerfScript, SaysWhatItLeftOut) {
  const auto profile = render::read_perf_script(kText, "perf");

  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->info().facts.back(),
            (std::pair<std::string, std::string>("samples of other events", "1")));
}

TEST(PerfScript, IsNotFoundInFoldedText) {
  EXPECT_FALSE(render::looks_like_perf_script("java;a;b 12\njava;c 3\n"));
  EXPECT_FALSE(render::looks_like_perf_script("GC Thread 0;a 12 13\n"));
}

TEST(PerfScript, RefusesTextWithoutSamples) {
  const auto profile = render::read_perf_script("", "perf");

  ASSERT_FALSE(profile.has_value());
  EXPECT_EQ(profile.error().code, base::ErrorCode::kInvalidData);
}

} // namespace
