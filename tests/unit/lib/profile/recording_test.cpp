// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/profile/byte_codec.h"
#include "lib/profile/profile_builder.h"
#include "lib/profile/recording_chunk.h"
#include "lib/profile/recording_reader.h"
#include "lib/profile/recording_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace jprof::profile {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

ProfileInfo example_info() {
  ProfileInfo info;
  info.title = "checkout";
  info.events.front().unit = Unit::kNanoseconds;
  info.events.front().engine = "cpu-timer";
  info.events.front().walker = "vmstructs";
  info.events.front().interval = 10ms;
  info.events.front().interval_got = 10100us;
  info.start = std::chrono::system_clock::time_point(1'790'000'000s);
  info.duration = 10s;
  info.has_times = true;
  info.has_threads = true;
  info.events.front().losses = {{"ring full", 3, 30'000'000}};
  info.events.front().gaps = {{.from = 2s, .to = 2100ms, .reason = "samples lost", .samples = 3}};
  info.facts = {{"JVM", "17.0.15"}, {"pod", "checkout-1"}};
  return info;
}

FrameId java_frame(ProfileBuilder& builder, const std::string& name) {
  return builder.intern_frame({.kind = FrameKind::kC2,
                               .name = builder.intern_string(name),
                               .owner = builder.intern_string("com.acme.Owner"),
                               .signature = builder.intern_string("(I)V"),
                               .line = 42});
}

// `count` samples of four threads over `stacks` stacks, as a CPU timer makes them.
Profile example_profile(std::size_t count, std::size_t stacks = 20) {
  ProfileBuilder builder;
  builder.info() = example_info();
  std::mt19937 random(7);
  std::vector<StackId> ids;
  for (std::size_t i = 0; i < stacks; ++i) {
    std::vector<FrameId> stack;
    for (std::size_t depth = 0; depth < 5 + i % 40; ++depth) {
      stack.push_back(java_frame(builder, "m" + std::to_string(depth * (depth < 4 ? 1 : i))));
    }
    ids.push_back(builder.intern_stack(stack));
  }
  std::vector<ThreadId> threads;
  for (unsigned i = 0; i < 4; ++i) {
    threads.push_back(builder.add_thread({.name = builder.intern_string("t" + std::to_string(i)),
                                          .tid = 100 + i,
                                          .java_id = 10 + i,
                                          .cpu = 2s + 1ns}));
  }
  std::vector<std::chrono::nanoseconds> clocks(threads.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t thread = random() % threads.size();
    const std::uint64_t overruns = random() % 50 == 0 ? 1 : 0;
    clocks[thread] += 10ms * static_cast<int>(1 + overruns) + 100us * (random() % 5);
    builder.add_sample({.time = clocks[thread],
                        .thread = threads[thread],
                        .stack = ids[std::min<std::size_t>(random() % stacks, random() % stacks)],
                        .state = ThreadState::kRunning,
                        .weight = 10'000'000 * (1 + overruns)});
  }
  return builder.build();
}

std::string stack_text(const Profile& profile, StackId id) {
  std::string out;
  for (const FrameId frame : profile.stack(id)) {
    const Frame& f = profile.frame(frame);
    out += std::to_string(static_cast<int>(f.kind));
    for (const StringId text : {f.name, f.owner, f.signature}) {
      out += '|';
      out += profile.string(text);
    }
    out += ':' + std::to_string(f.line) + ';';
  }
  return out;
}

// Everything a reader may rely on, as text, sorted: ids and the order of equal times may differ.
std::vector<std::string> describe(const Profile& profile) {
  std::vector<std::string> lines;
  for (const Sample& s : profile.event().samples) {
    const Thread& thread = profile.thread(s.thread);
    lines.push_back(std::to_string(s.time.count()) + ' ' +
                    std::string(profile.string(thread.name)) + '/' + std::to_string(thread.tid) +
                    '/' + std::to_string(thread.java_id) + '/' +
                    std::to_string(thread.cpu.count()) + ' ' + std::to_string(s.weight) + 'x' +
                    std::to_string(s.count) + ' ' + std::to_string(static_cast<int>(s.state)) +
                    ' ' + stack_text(profile, s.stack));
  }
  std::ranges::sort(lines);
  return lines;
}

std::string encoded(const Profile& profile, const RecordingOptions& options = {}) {
  return encode_recording(profile, options).value();
}

// Where each chunk of a sound recording begins, and where the last one ends.
std::vector<std::size_t> chunk_begins(const std::string& file) {
  std::vector<std::size_t> begins{kFileHeaderBytes};
  ChunkHeader header;
  while (decode_chunk_header(std::string_view(file).substr(begins.back()), header)) {
    begins.push_back(begins.back() + kChunkHeaderBytes + header.stored_bytes);
  }
  return begins;
}

TEST(Recording, ComesBackAsItWas) {
  const Profile profile = example_profile(3000);

  const Recording back = read_recording(encoded(profile)).value();

  EXPECT_TRUE(back.health.complete) << back.health.problem;
  EXPECT_TRUE(describe(back.profile) == describe(profile)); // thousands of lines if printed
  const ProfileInfo& info = back.profile.info();
  EXPECT_EQ(info.title, "checkout");
  EXPECT_EQ(info.events.front().unit, Unit::kNanoseconds);
  EXPECT_EQ(info.events.front().engine, "cpu-timer");
  EXPECT_EQ(info.events.front().walker, "vmstructs");
  EXPECT_EQ(info.events.front().interval, 10ms);
  EXPECT_EQ(info.events.front().interval_got, 10100us);
  EXPECT_EQ(info.start, profile.info().start);
  EXPECT_EQ(info.duration, 10s);
  EXPECT_TRUE(info.has_times);
  EXPECT_TRUE(info.has_threads);
  EXPECT_FALSE(info.partial);
  ASSERT_EQ(info.events.front().losses.size(), 1U);
  EXPECT_EQ(info.events.front().losses[0].weight, 30'000'000U);
  ASSERT_EQ(info.events.front().gaps.size(), 1U);
  EXPECT_EQ(info.events.front().gaps[0].from, 2s);
  EXPECT_EQ(info.events.front().gaps[0].to, 2100ms);
  EXPECT_EQ(info.events.front().gaps[0].reason, "samples lost");
  EXPECT_EQ(info.events.front().gaps[0].samples, 3U);
  EXPECT_EQ(info.facts, profile.info().facts);
}

TEST(Recording, KeepsAnImportedProfileWithoutTimesAndThreads) {
  ProfileBuilder builder;
  const StackId stack = builder.intern_stack(std::vector{java_frame(builder, "a")});
  builder.add_sample({.stack = stack, .count = 5, .weight = 5});
  builder.add_sample({.stack = builder.intern_stack({}), .count = 2, .weight = 0});
  const Profile profile = builder.build();

  const Recording back = read_recording(encoded(profile)).value();

  EXPECT_TRUE(back.health.complete) << back.health.problem;
  EXPECT_TRUE(describe(back.profile) == describe(profile)); // thousands of lines if printed
  EXPECT_FALSE(back.profile.info().has_times);
}

TEST(Recording, KeepsItsTimesWhenItIsWrittenAnew) {
  ProfileBuilder builder;
  builder.info() = example_info();
  const StackId stack = builder.intern_stack({});
  builder.add_thread({});
  for (int i = 0; i < 100; ++i) {
    builder.add_sample({.time = 12'345'678ns * i + 7ns, .stack = stack, .weight = 10'000'000});
  }
  RecordingOptions options;
  options.chunk_samples = 7;
  const Profile original = builder.build();

  const Profile once = read_recording(encoded(original, options)).value().profile;
  const Profile twice = read_recording(encoded(once)).value().profile;

  for (std::size_t i = 0; i < 100; ++i) {
    const auto error = original.event().samples[i].time - once.event().samples[i].time;
    EXPECT_GE(error, 0ns);
    EXPECT_LT(error, 100us); // a hundredth of the interval
    EXPECT_EQ(once.event().samples[i].time, twice.event().samples[i].time);
  }
}

TEST(Recording, HoldsTimesAsFineAsTheTick) {
  ProfileBuilder builder;
  builder.info() = example_info();
  builder.event_info().interval = 1ms;
  const StackId stack = builder.intern_stack({});
  builder.add_thread({});
  std::minstd_rand random(7);
  for (int i = 0; i < 1000; ++i) {
    const std::chrono::nanoseconds jitter(static_cast<std::int64_t>(random() % 1'000'000));
    builder.add_sample({.time = 4ms * i + jitter, .stack = stack, .weight = 4'000'000});
  }
  const Profile original = builder.build();

  const std::string coarse = encoded(original, {.tick = 3333us});
  const Profile once = read_recording(coarse).value().profile;
  const Profile twice = read_recording(encoded(once)).value().profile;

  EXPECT_LT(coarse.size() + 150, encoded(original).size());
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto error = original.event().samples[i].time - once.event().samples[i].time;
    EXPECT_GE(error, 0ns);
    EXPECT_LT(error, 30us);
    EXPECT_EQ(once.event().samples[i].time, twice.event().samples[i].time);
  }
}

// Stacks that come in an order in which neighbours share nothing are written sorted.
TEST(Recording, SharesFramesAmongStacksWhateverTheirOrder) {
  const auto bytes_of = [](bool shuffled) {
    ProfileBuilder builder;
    builder.info() = example_info();
    const ThreadId thread = builder.add_thread({});
    std::vector<std::vector<FrameId>> stacks;
    for (int branch = 0; branch < 30; ++branch) {
      std::vector<FrameId> stack;
      for (int depth = 0; depth < 40; ++depth) {
        stack.push_back(java_frame(builder, std::to_string(branch) + "." + std::to_string(depth)));
      }
      for (int leaf = 0; leaf < 30; ++leaf) {
        stacks.push_back(stack);
        stacks.back().push_back(java_frame(builder, "leaf" + std::to_string(leaf)));
      }
    }
    if (shuffled) {
      std::ranges::shuffle(stacks, std::mt19937(3));
    }
    for (const std::vector<FrameId>& stack : stacks) {
      builder.add_sample({.thread = thread, .stack = builder.intern_stack(stack), .weight = 1});
    }
    const Profile profile = builder.build();
    const std::string file = encoded(profile);
    EXPECT_TRUE(describe(read_recording(file).value().profile) == describe(profile));
    return file.size();
  };
  const std::size_t sorted = bytes_of(false);
  EXPECT_LT(bytes_of(true), sorted + 3000); // 900 stack ids in no order; unsorted frames: 50 kB
}

TEST(Recording, KeepsExtremeNumbers) {
  ProfileBuilder builder;
  builder.info() = example_info();
  const ThreadId thread = builder.add_thread({.java_id = UINT64_MAX});
  const StackId stack = builder.intern_stack({});
  builder.add_sample({.time = 0ns, .thread = thread, .stack = stack, .weight = UINT64_MAX});
  builder.add_sample({.time = 100h, .thread = thread, .stack = stack, .weight = 1});
  builder.add_sample({.time = -5s, .thread = thread, .stack = stack, .count = UINT64_MAX});
  const Profile profile = builder.build();

  const Recording back = read_recording(encoded(profile)).value();

  EXPECT_TRUE(back.health.complete) << back.health.problem;
  EXPECT_TRUE(describe(back.profile) == describe(profile)); // thousands of lines if printed
}

TEST(Recording, CostsAtMostFourBytesASampleWhenStacksRepeat) {
  const Profile profile = example_profile(60'000, 400);
  RecordingOptions options;
  options.chunk_samples = 1000; // what a capture of four busy threads flushes in 2.5 s

  const std::string file = encoded(profile, options);

  EXPECT_LE(static_cast<double>(file.size()) / 60'000, 4.0);
}

TEST(Recording, GivesEverythingUpToTheLastWholeChunkOfACutFile) {
  RecordingOptions options;
  options.chunk_samples = 500;
  const Profile profile = example_profile(3000);
  const std::string file = encoded(profile, options);
  const std::vector<std::size_t> begins = chunk_begins(file);
  ASSERT_EQ(begins.back(), file.size());
  ASSERT_GE(begins.size(), 9U);

  for (std::size_t size = kFileHeaderBytes; size < file.size(); size += 97) {
    const Recording back = read_recording(std::string_view(file).substr(0, size)).value();
    const auto whole =
        static_cast<std::size_t>(std::ranges::upper_bound(begins, size) - begins.begin() - 1);
    const std::size_t samples = std::min<std::size_t>(whole == 0 ? 0 : (whole - 1) * 500, 3000);
    ASSERT_EQ(back.profile.event().samples.size(), samples) << size;
    ASSERT_TRUE(back.profile.info().partial);
    ASSERT_THAT(back.health.problem, HasSubstr("cut off"));
  }
}

TEST(Recording, NamesTheSamplesThatADamagedChunkHeld) {
  RecordingOptions options;
  options.chunk_samples = 500;
  std::string file = encoded(example_profile(3000), options);
  const std::vector<std::size_t> begins = chunk_begins(file);
  file[begins[2] + kChunkHeaderBytes + 5] ^= 1; // the second data chunk

  const Recording back = read_recording(file).value();

  EXPECT_EQ(back.profile.event().samples.size(), 2500U);
  EXPECT_EQ(back.health.damaged_chunks, 1U);
  EXPECT_EQ(back.health.lost_samples, 500U);
  EXPECT_TRUE(back.profile.info().partial);
  EXPECT_EQ(back.profile.event_info().losses.back().reason, "damaged chunk");
}

TEST(Recording, GoesOnBehindAMissingDictionary) {
  RecordingOptions options;
  options.chunk_samples = 500;
  std::string file = encoded(example_profile(3000), options);
  const std::vector<std::size_t> begins = chunk_begins(file);
  file.erase(begins[1], begins[2] - begins[1]); // strings, frames, stacks and 500 samples

  const Recording back = read_recording(file).value();

  ASSERT_EQ(back.profile.event().samples.size(), 2500U);
  const auto stack = back.profile.stack(back.profile.event().samples[0].stack);
  ASSERT_EQ(stack.size(), 1U);
  EXPECT_EQ(back.profile.string(back.profile.frame(stack[0]).name), "[damaged]");
  EXPECT_EQ(back.health.lost_samples, 500U);
  EXPECT_FALSE(back.health.complete);
}

TEST(Recording, FindsTheNextChunkBehindGarbage) {
  RecordingOptions options;
  options.chunk_samples = 500;
  std::string file = encoded(example_profile(3000), options);
  const std::vector<std::size_t> begins = chunk_begins(file);
  file.insert(begins[3], "garbage JCHK garbage JCHK");

  const Recording back = read_recording(file).value();

  EXPECT_EQ(back.profile.event().samples.size(), 3000U);
  EXPECT_EQ(back.health.ignored_bytes, 25U);
  EXPECT_FALSE(back.health.complete);
}

TEST(Recording, NeverTakesADamagedFileForAWholeOne) {
  RecordingOptions options;
  options.chunk_samples = 200;
  const Profile profile = example_profile(600);
  const std::string file = encoded(profile, options);
  const std::vector<std::string> truth = describe(profile);

  for (std::size_t at = 0; at < file.size(); at += 3) {
    std::string bad = file;
    bad[at] ^= static_cast<char>(1 << at % 8);
    const auto back = read_recording(bad);
    if (back) {
      ASSERT_FALSE(back->health.complete) << "byte " << at;
      ASSERT_LE(back->profile.event().samples.size(), 600U);
    }
  }
}

TEST(Recording, RefusesWhatIsNoRecording) {
  EXPECT_EQ(read_recording("").error().code, base::ErrorCode::kInvalidData);
  EXPECT_EQ(read_recording("main;a;b 12\n").error().code, base::ErrorCode::kInvalidData);
}

TEST(Recording, RefusesAnotherMajorByName) {
  ByteWriter header;
  header.raw(kRecordingMagic);
  header.fixed16(9);
  header.fixed16(0);
  header.fixed32(base::crc32c(header.bytes()));

  const base::Status status = check_file_header(header.bytes());

  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("format 9"));
}

TEST(Recording, SkipsChunksOfUnknownKinds) {
  const std::string file = encoded(example_profile(100));
  const std::vector<std::size_t> begins = chunk_begins(file);
  const std::string unknown =
      encode_chunk({.kind = static_cast<ChunkKind>(77), .sequence = 0, .payload = "new"}, 1)
          .value();
  const std::string longer = file.substr(0, begins[1]) + unknown + file.substr(begins[1]);

  const Recording back = read_recording(longer).value();

  EXPECT_EQ(back.health.skipped_chunks, 1U);
  EXPECT_EQ(back.profile.event().samples.size(), 100U);
}

TEST(Recording, BoundsWhatAFileMayClaim) {
  const std::string file = encoded(example_profile(3000));
  ReadOptions few;
  few.samples = 2999;
  ReadOptions small;
  small.raw_bytes = 100;
  ReadOptions shallow;
  shallow.stack_frames = 10;

  EXPECT_EQ(read_recording(file, few).error().code, base::ErrorCode::kLimit);
  EXPECT_EQ(read_recording(file, small).error().code, base::ErrorCode::kLimit);
  EXPECT_EQ(read_recording(file, shallow).error().code, base::ErrorCode::kLimit);
}

TEST(Recording, MergesEqualSamplesWhenAsked) {
  const Profile profile = example_profile(3000);
  ReadOptions options;
  options.times = SampleTimes::kMerge;

  const Recording back = read_recording(encoded(profile), options).value();

  EXPECT_LE(back.profile.event().samples.size(), 80U);
  EXPECT_EQ(back.profile.event().total_weight, profile.event().total_weight);
  EXPECT_EQ(back.profile.event().total_count, 3000U);
  EXPECT_FALSE(back.profile.info().has_times);
  EXPECT_TRUE(back.health.complete);
}

TEST(RecordingWriter, MakesWhatWasFlushedReadableAtOnce) {
  std::string file;
  RecordingWriter writer(
      [&file](std::string_view bytes) -> base::Status {
        file += bytes;
        return {};
      },
      example_info());
  const FrameId frame =
      writer.intern_frame({.kind = FrameKind::kC1, .name = writer.intern_string("x")});
  const StackId stack = writer.intern_stack(std::vector{frame});
  const ThreadId thread = writer.add_thread({.tid = 7});
  ASSERT_TRUE(writer.add_sample({.time = 1ms, .thread = thread, .stack = stack, .weight = 1}));
  ASSERT_TRUE(writer.flush());
  const std::string first = file;
  writer.set_thread(thread, {.name = writer.intern_string("named later"), .tid = 7});
  ASSERT_TRUE(writer.add_sample({.time = 2ms, .thread = thread, .stack = stack, .weight = 1}));
  ASSERT_TRUE(writer.finish(example_info()));

  const Recording early = read_recording(first).value();
  const Recording whole = read_recording(file).value();

  EXPECT_EQ(early.profile.event().samples.size(), 1U);
  EXPECT_TRUE(early.profile.info().partial);
  EXPECT_EQ(whole.profile.event().samples.size(), 2U);
  EXPECT_EQ(whole.profile.string(whole.profile.thread(thread).name), "named later");
  EXPECT_EQ(writer.bytes_written(), file.size());
}

TEST(RecordingWriter, KeepsTheFailureOfItsSink) {
  int calls = 0;
  RecordingWriter writer(
      [&calls](std::string_view) -> base::Status {
        ++calls;
        return calls < 3 ? base::Status{} : base::errno_failure(ENOSPC, "cannot write x");
      },
      example_info());
  const StackId stack = writer.intern_stack({});
  writer.add_thread({});

  EXPECT_TRUE(writer.add_sample({.stack = stack}));
  EXPECT_EQ(writer.flush().error().os_errno, ENOSPC);
  EXPECT_EQ(writer.finish(example_info()).error().os_errno, ENOSPC);
  EXPECT_EQ(calls, 3);
}

TEST(RecordingWriter, CutsStacksDeeperThanAnyRealOne) {
  ProfileBuilder builder;
  const std::vector<FrameId> deep(kMaxDepth + 10, java_frame(builder, "r"));
  builder.add_sample({.stack = builder.intern_stack(deep), .weight = 1});

  const Recording back = read_recording(encoded(builder.build())).value();

  const auto stack = back.profile.stack(back.profile.event().samples[0].stack);
  ASSERT_EQ(stack.size(), kMaxDepth);
  EXPECT_EQ(back.profile.string(back.profile.frame(stack[kMaxDepth - 2]).name), "[truncated]");
}

} // namespace
} // namespace jprof::profile
