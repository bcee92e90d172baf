// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_reader.h"
#include "lib/profile/recording_writer.h"
#include "tests/unit/lib/profile/recording_files.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace jprof::profile {
namespace {

TEST(RecordingWriter, GivesBackWhatItsSinkRefusedAndClosesTheRest) {
  MemoryFile file;
  ProfileInfo info;
  info.has_times = info.has_threads = true;
  RecordingWriter writer(file.sink(), info);
  const auto stack_of = [&writer](const char* name) {
    return writer.intern_stack(
        std::vector{writer.intern_frame({.name = writer.intern_string(name)})});
  };
  const ThreadId thread = writer.add_thread({.tid = 7});
  const StackId late = stack_of("z");
  ASSERT_TRUE(writer.add_sample({.thread = thread, .stack = late, .weight = 1}));
  ASSERT_TRUE(writer.flush());
  file.full = true;
  const StackId first = stack_of("first of these in the file's order");
  ASSERT_TRUE(writer.add_sample({.thread = thread, .stack = first, .weight = 2}));
  ASSERT_TRUE(writer.add_sample({.thread = thread, .stack = late, .count = 0, .weight = 4}));
  EXPECT_FALSE(writer.flush());

  const std::vector<Sample> lost = writer.give_up().front();

  file.full = false;
  ASSERT_EQ(lost.size(), 2U);
  EXPECT_EQ(lost[0].stack, first);
  EXPECT_EQ(lost[1].stack, late);
  EXPECT_EQ(writer.sample_count(), 1U);
  ASSERT_TRUE(writer.finish(info));
  const Recording read = read_recording(file.bytes).value();
  EXPECT_TRUE(read.health.complete);
  EXPECT_EQ(read.profile.event().total_weight, 1U);
  EXPECT_EQ(writer.bytes_written(), file.bytes.size());
}

} // namespace
} // namespace jprof::profile
