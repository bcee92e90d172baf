// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
// Recordings of several events.
#include "lib/profile/byte_codec.h"
#include "lib/profile/profile_builder.h"
#include "lib/profile/recording_chunk.h"
#include "lib/profile/recording_info.h"
#include "lib/profile/recording_reader.h"
#include "lib/profile/recording_writer.h"
#include "lib/profile/sample_columns.h"
#include "tests/unit/lib/profile/recording_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <tuple>
#include <vector>

namespace jprof::profile {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr std::array<EventId, 3> kEvents{EventId{0}, EventId{1}, EventId{2}};

ProfileInfo three_events() {
  ProfileInfo info;
  info.start = std::chrono::system_clock::time_point(1'790'000'000s);
  info.has_times = info.has_threads = true;
  info.events.resize(3);
  info.events[0].unit = Unit::kNanoseconds;
  info.events[0].engine = "cpu-timer";
  info.events[0].interval = 10ms;
  info.events[0].losses = {{"ring full", 3, 30'000'000}};
  info.events[1].name = "alloc";
  info.events[1].unit = Unit::kBytes;
  info.events[1].engine = "tlab";
  info.events[1].gaps = {{.from = 1s, .to = 2s, .reason = "samples lost", .samples = 1}};
  info.events[2].name = "lock";
  info.events[2].unit = Unit::kNanoseconds;
  info.events[2].interval = 1ms;
  return info;
}

// Every event in every stack and thread, at times of its own.
Profile example(std::size_t count) {
  ProfileBuilder builder;
  builder.info() = three_events();
  std::mt19937 random(11);
  std::vector<StackId> stacks;
  for (int i = 0; i < 7; ++i) {
    const FrameId frame =
        builder.intern_frame({.name = builder.intern_string("C.m" + std::to_string(i))});
    stacks.push_back(builder.intern_stack(std::array{frame}));
  }
  for (unsigned i = 0; i < 3; ++i) {
    builder.add_thread({.name = builder.intern_string("t" + std::to_string(i)), .tid = 10 + i});
  }
  for (std::size_t i = 0; i < count; ++i) {
    const EventId event = kEvents[random() % 3];
    builder.add_sample({.time = 1ms * static_cast<int>(i),
                        .thread = ThreadId{static_cast<std::uint32_t>(random() % 3)},
                        .stack = stacks[random() % stacks.size()],
                        .weight = 1000 * (random() % 100 + 1)},
                       event);
  }
  return builder.build();
}

using Row = std::tuple<std::chrono::nanoseconds, std::string, std::string, std::uint64_t>;

std::vector<Row> rows_of(const Profile& profile, EventId event) {
  std::vector<Row> rows;
  for (const Sample& sample : profile.event(event).samples) {
    rows.emplace_back(sample.time, profile.string(profile.thread(sample.thread).name),
                      profile.string(profile.frame(profile.stack(sample.stack).front()).name),
                      sample.weight);
  }
  return rows;
}

TEST(RecordingEvents, ComeBackEachByItself) {
  const Profile profile = example(5000);
  RecordingOptions options;
  options.chunk_samples = 300;

  const Recording back = read_recording(encode_recording(profile, options).value()).value();

  EXPECT_TRUE(back.health.complete) << back.health.problem;
  ASSERT_EQ(back.profile.event_count(), 3U);
  for (const EventId event : kEvents) {
    const EventInfo& info = back.profile.event_info(event);
    const EventInfo& was = profile.event_info(event);
    EXPECT_EQ(info.name, was.name);
    EXPECT_EQ(info.unit, was.unit);
    EXPECT_EQ(info.engine, was.engine);
    EXPECT_EQ(info.interval, was.interval);
    EXPECT_EQ(info.losses.size(), was.losses.size());
    EXPECT_EQ(info.gaps.size(), was.gaps.size());
    EXPECT_EQ(rows_of(back.profile, event), rows_of(profile, event));
    EXPECT_EQ(back.profile.event(event).total_weight, profile.event(event).total_weight);
  }
}

TEST(RecordingEvents, AreSummedEachByItself) {
  const Profile profile = example(2000);

  const RecordingSummary summary = summarize(encode_recording(profile).value()).value();

  ASSERT_EQ(summary.events.size(), 3U);
  for (const EventId event : kEvents) {
    const EventSummary& one = summary.events[static_cast<std::size_t>(event)];
    EXPECT_EQ(one.samples, profile.event(event).samples.size());
    EXPECT_EQ(one.weight, profile.event(event).total_weight);
  }
}

TEST(RecordingEvents, AreNotMerged) {
  ProfileBuilder builder;
  builder.info() = three_events();
  const FrameId frame = builder.intern_frame({.name = builder.intern_string("C.m")});
  const StackId stack = builder.intern_stack(std::array{frame});
  builder.add_thread({});
  for (int i = 0; i < 4; ++i) {
    builder.add_sample({.stack = stack, .weight = 5}, EventId{0});
    builder.add_sample({.stack = stack, .weight = 7}, EventId{1});
  }

  const Recording back =
      read_recording(encode_recording(builder.build()).value(), {.times = SampleTimes::kMerge})
          .value();

  ASSERT_EQ(back.profile.event(EventId{0}).samples.size(), 1U);
  EXPECT_EQ(back.profile.event(EventId{0}).total_weight, 20U);
  ASSERT_EQ(back.profile.event(EventId{1}).samples.size(), 1U);
  EXPECT_EQ(back.profile.event(EventId{1}).total_weight, 28U);
  EXPECT_TRUE(back.profile.event(EventId{2}).samples.empty());
}

TEST(RecordingEvents, AreGivenBackByEventWhereTheSinkRefusesThem) {
  MemoryFile file;
  const ProfileInfo info = three_events();
  RecordingWriter writer(file.sink(), info);
  const StackId stack =
      writer.intern_stack(std::array{writer.intern_frame({.name = writer.intern_string("a")})});
  const ThreadId thread = writer.add_thread({.tid = 7});
  ASSERT_TRUE(writer.add_sample({.thread = thread, .stack = stack, .weight = 1}, EventId{1}));
  ASSERT_TRUE(writer.flush());
  file.full = true;
  ASSERT_TRUE(writer.add_sample({.thread = thread, .stack = stack, .weight = 2}, EventId{0}));
  ASSERT_TRUE(writer.add_sample({.thread = thread, .stack = stack, .weight = 4}, EventId{1}));
  EXPECT_FALSE(writer.flush());

  const std::vector<std::vector<Sample>> lost = writer.give_up();

  file.full = false;
  ASSERT_TRUE(writer.finish(info));
  ASSERT_EQ(lost.size(), 3U);
  ASSERT_EQ(lost[0].size(), 1U);
  EXPECT_EQ(lost[0][0].weight, 2U);
  ASSERT_EQ(lost[1].size(), 1U);
  EXPECT_EQ(lost[1][0].weight, 4U);
  EXPECT_TRUE(lost[2].empty());
  const Recording read = read_recording(file.bytes).value();
  EXPECT_TRUE(read.health.complete) << read.health.problem;
  EXPECT_EQ(read.profile.event(EventId{0}).total_weight, 0U);
  EXPECT_EQ(read.profile.event(EventId{1}).total_weight, 1U);
}

// A file may lie: totals that fit the sum of all events, but not each.
TEST(RecordingEvents, HaveTotalsOfTheirOwn) {
  const auto file_of = [](EventId second) {
    MemoryFile file;
    const ProfileInfo info = three_events();
    RecordingWriter writer(file.sink(), info);
    const StackId stack =
        writer.intern_stack(std::array{writer.intern_frame({.name = writer.intern_string("a")})});
    const ThreadId thread = writer.add_thread({.tid = 7});
    EXPECT_TRUE(writer.add_sample({.thread = thread, .stack = stack, .weight = 3}, EventId{0}));
    EXPECT_TRUE(writer.add_sample({.thread = thread, .stack = stack, .weight = 3}, second));
    EXPECT_TRUE(writer.finish(info));
    return file.bytes;
  };
  const std::string two = file_of(EventId{1});
  const std::string one = file_of(EventId{0});
  const auto end_of = [](const std::string& file) { return file.rfind("JCHK"); };

  const Recording read =
      read_recording(two.substr(0, end_of(two)) + one.substr(end_of(one))).value();

  EXPECT_FALSE(read.health.complete);
  EXPECT_THAT(read.health.problem, HasSubstr("totals do not agree"));
}

TEST(RecordingEvents, ThatTheInfoDoesNotNameAreDamaged) {
  std::vector<Sample> samples{{.weight = 9}};
  ByteWriter payload;
  payload.field(static_cast<std::uint64_t>(DataTag::kSamples),
                encode_samples(samples, EventId{2}, {}));
  const std::string file =
      encode_file_header() +
      encode_chunk({.kind = ChunkKind::kInfo, .payload = encode_info(ProfileInfo{})}, 1).value() +
      encode_chunk(
          {.kind = ChunkKind::kData, .sequence = 1, .samples = 1, .payload = payload.bytes()}, 1)
          .value();

  const Recording read = read_recording(file).value();

  ASSERT_EQ(read.profile.event_count(), 3U);
  EXPECT_EQ(read.profile.event_info(EventId{2}).name, "[damaged]");
  EXPECT_EQ(read.profile.event(EventId{2}).total_weight, 9U);
}

TEST(RecordingEvents, AreBounded) {
  std::vector<Sample> samples{{.weight = 9}};
  SampleBlock block;
  EXPECT_TRUE(decode_samples(encode_samples(samples, EventId{kMaxEvents - 1}, {}), 10, block));
  EXPECT_FALSE(decode_samples(encode_samples(samples, EventId{kMaxEvents}, {}), 10, block));

  ProfileInfo many;
  many.events.resize(kMaxEvents + 1);
  ProfileInfo read;
  EXPECT_FALSE(decode_info(encode_info(many), read));
  EXPECT_EQ(read.events.size(), kMaxEvents);
  many.events.resize(kMaxEvents);
  EXPECT_TRUE(decode_info(encode_info(many), read));
  many.events.clear();
  EXPECT_FALSE(decode_info(encode_info(many), read));
  EXPECT_EQ(read.events.size(), 1U) << "whoever reads it may look at the first one";
}

} // namespace
} // namespace jprof::profile
