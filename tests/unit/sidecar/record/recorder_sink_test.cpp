// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sidecar/record/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace jprof::record {
namespace {

using namespace std::chrono_literals;
using jprof::testing::ScriptedAgent;
using ::testing::HasSubstr;

// A disk that has room for three writes (the file's header, the first info and the first samples),
// and then for none, or for the end alone.
Recorded record_onto_full_disk(std::string& file, bool has_reserve) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "x");
    const auto add = [&](int samples) {
      for (int i = 0; i < samples; ++i) {
        a.region().add_sample({.weight = 10, .stack = stack});
      }
    };
    add(3);
    a.send_started();
    while (a.region().header().ring_tail < 3 && a.hear(5000ms)) {
    }
    add(5);
    while (!a.stop_seen() && (a.hear(5000ms) || !a.hung_up())) {
    }
    add(2);
    a.send_stopped(wire::StopReason::kAsked);
  });
  int writes = 0;
  RecorderInput input;
  input.sink = [&](std::string_view bytes) -> base::Status {
    ++writes;
    if (writes == 4 || (writes > 4 && !has_reserve)) {
      return base::fail(base::errno_error(ENOSPC, "cannot write x").with_cure("make room"));
    }
    file += bytes;
    return {};
  };
  return run(agent, quick_options(), input);
}

TEST(Recorder, CountsWhatAFullDiskDidNotTake) {
  for (const bool has_reserve : {true, false}) {
    std::string file;
    const Recorded recorded = record_onto_full_disk(file, has_reserve);

    ASSERT_TRUE(recorded.result);
    const RecorderResult& result = *recorded.result;
    ASSERT_TRUE(result.sink_error);
    EXPECT_EQ(result.sink_error->os_errno, ENOSPC);
    EXPECT_EQ(result.reason, wire::StopReason::kAsked); // the agent came to its end in order
    EXPECT_EQ(result.samples, 3U);
    EXPECT_EQ(result.weight, 30U);
    EXPECT_EQ(result.unwritten.samples, 7U);
    EXPECT_EQ(result.unwritten.weight, 70U);
    EXPECT_TRUE(result.accounted);
    ASSERT_EQ(result.info.events.front().losses.size(), 1U);
    EXPECT_EQ(result.info.events.front().losses[0].reason, "could not be written");
    EXPECT_EQ(result.info.events.front().losses[0].samples, 7U);
    EXPECT_THAT(result.info.partial_reason, HasSubstr("could not be written: cannot write x"));
    EXPECT_EQ(result.cure, "make room");
    ASSERT_EQ(result.hottest.size(), 1U);
    EXPECT_EQ(result.hottest[0].samples, 3U);
    EXPECT_EQ(result.recording_bytes, file.size());
    const profile::Recording read = profile::read_recording(file).value();
    EXPECT_EQ(read.profile.event().total_weight, 30U);
    EXPECT_EQ(read.health.complete, has_reserve);
    EXPECT_TRUE(read.profile.info().partial);
    if (has_reserve) {
      EXPECT_EQ(read.profile.info().partial_reason, result.info.partial_reason);
      EXPECT_EQ(read.profile.event_info().losses.size(), 1U);
    }
  }
}

} // namespace
} // namespace jprof::record
