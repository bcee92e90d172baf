// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_reader.h"
#include "lib/profile/recording_summary.h"
#include "lib/profile/recording_writer.h"
#include "tests/unit/lib/profile/recording_files.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace jprof::profile {
namespace {

using namespace std::chrono_literals;

// Five chunks of samples of three threads, as a recorder writes them.
std::string example() {
  std::string file;
  ProfileInfo info;
  info.events.front().engine = "cpu-timer";
  info.events.front().interval = 10ms;
  info.events.front().unit = Unit::kNanoseconds;
  info.start = std::chrono::system_clock::time_point(1'790'000'000s);
  info.has_times = true;
  info.has_threads = true;
  info.facts = {{"JVM", "17.0.15"}};
  RecordingWriter writer(
      [&](std::string_view bytes) {
        file += bytes;
        return base::Status();
      },
      info);
  const FrameId frame = writer.intern_frame({.name = writer.intern_string("Known.hot")});
  const StackId stack = writer.intern_stack(std::array{frame});
  std::array<ThreadId, 3> threads{};
  for (ThreadId& thread : threads) {
    thread = writer.add_thread({.name = writer.intern_string("t")});
  }
  for (int i = 0; i < 500; ++i) {
    EXPECT_TRUE(writer.add_sample({.time = 1s + i * 10ms,
                                   .thread = threads[static_cast<std::size_t>(i) % 3],
                                   .stack = stack,
                                   .weight = 10'000'000}));
    if (i % 100 == 99) {
      EXPECT_TRUE(writer.flush());
    }
  }
  info.duration = 7s;
  EXPECT_TRUE(writer.finish(info));
  return file;
}

TEST(RecordingSummary, SaysWhatIsInAWholeRecording) {
  const auto summary = summarize(example());

  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->complete);
  EXPECT_EQ(summary->events.front().samples, 500U);
  EXPECT_EQ(summary->events.front().weight, 5'000'000'000U);
  EXPECT_EQ(summary->threads, 3U);
  EXPECT_EQ(summary->first, 1s);
  EXPECT_EQ(summary->last, 1s + 4990ms);
  EXPECT_EQ(summary->info.duration, 7s);
}

TEST(RecordingSummary, CountsNoRestAsASample) {
  std::string file;
  const auto append = [&](std::string_view bytes) {
    file += bytes;
    return base::Status();
  };
  ProfileInfo info;
  info.events.front().unit = Unit::kNanoseconds;
  info.has_times = true;
  RecordingWriter writer(append, info);
  const StackId hot = writer.intern_stack(
      std::array{writer.intern_frame({.name = writer.intern_string("Known.hot")})});
  const StackId rest = writer.intern_stack(std::array{writer.intern_frame(
      {.kind = FrameKind::kRest, .name = writer.intern_string("[after last sample]")})});
  const ThreadId thread = writer.add_thread({.name = writer.intern_string("t")});
  ASSERT_TRUE(
      writer.add_sample({.time = 1s, .thread = thread, .stack = hot, .weight = 10'000'000}));
  ASSERT_TRUE(writer.add_sample(
      {.time = 2s, .thread = thread, .stack = rest, .count = 0, .weight = 4'000'000}));
  ASSERT_TRUE(writer.finish(info));

  const auto summary = summarize(file);
  const auto recording = read_recording(file);

  ASSERT_TRUE(summary && recording);
  EXPECT_EQ(summary->events.front().samples, 1U);
  EXPECT_EQ(summary->events.front().rests, 1U);
  EXPECT_EQ(summary->events.front().weight, 14'000'000U);
  EXPECT_EQ(summary->last, 2s);
  EXPECT_TRUE(recording->health.complete) << recording->health.problem;
  EXPECT_EQ(recording->profile.event().total_count, 1U);
  EXPECT_EQ(recording->profile.event().total_weight, 14'000'000U);
}

TEST(RecordingSummary, AgreesWithTheReaderWhereverTheFileEnds) {
  const std::string file = example();
  std::set<std::uint64_t> seen;
  for (std::size_t end = 16; end <= file.size(); ++end) {
    const std::string cut = file.substr(0, end);
    const auto summary = summarize(cut);
    const auto recording = read_recording(cut);
    ASSERT_TRUE(summary && recording) << end;
    std::uint64_t weight = 0;
    for (const Sample& sample : recording->profile.event().samples) {
      weight += sample.weight;
    }
    ASSERT_EQ(summary->events.front().samples, recording->profile.event().samples.size()) << end;
    ASSERT_EQ(summary->events.front().weight, weight) << end;
    ASSERT_EQ(summary->complete, recording->health.complete) << end;
    seen.insert(summary->events.front().samples);
  }
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 100, 200, 300, 400, 500}));
}

TEST(RecordingSummary, CountsDamageApart) {
  const std::string file = example();
  for (std::size_t at = 16; at < file.size(); at += 7) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const auto summary = summarize(damaged);
    ASSERT_TRUE(summary) << at;
    EXPECT_LE(summary->events.front().samples + summary->samples_in_damage, 500U) << at;
  }
  EXPECT_FALSE(summarize("no recording, but long enough to be one"));
  EXPECT_FALSE(summarize(""));
}

} // namespace
} // namespace jprof::profile
