// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/json.h"
#include "lib/formats/event_choice.h"
#include "lib/formats/format_diff.h"
#include "lib/formats/format_reader.h"
#include "lib/formats/format_writer.h"
#include "lib/profile/profile_builder.h"
#include "lib/profile/recording_writer.h"
#include "lib/render/left_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace jprof::formats {
namespace {

using profile::EventId;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// 10 ms of CPU in A.run and 4096 bytes in B.make.
profile::Profile two_events() {
  profile::ProfileBuilder builder;
  builder.info().has_threads = true;
  builder.info().events.resize(2);
  builder.event_info().unit = profile::Unit::kNanoseconds;
  builder.event_info(EventId{1}).name = "alloc";
  builder.event_info(EventId{1}).unit = profile::Unit::kBytes;
  const auto stack_of = [&](const char* name) {
    return builder.intern_stack(
        std::array{builder.intern_frame({.name = builder.intern_string(name)})});
  };
  builder.add_thread({.name = builder.intern_string("main")});
  builder.add_sample({.stack = stack_of("A.run"), .weight = 10'000'000}, EventId{0});
  builder.add_sample({.stack = stack_of("B.make"), .weight = 1024}, EventId{1});
  builder.add_sample({.stack = stack_of("B.make"), .weight = 3072}, EventId{1});
  return builder.build();
}

Input input_of(const profile::Profile& profile, const char* name) {
  return {name, profile::encode_recording(profile).value()};
}

TEST(EventChoice, IsTheFirstUnlessNamed) {
  const profile::Profile profile = two_events();

  EXPECT_EQ(find_event(profile, "", "x.jprof").value(), EventId{0});
  EXPECT_EQ(find_event(profile, "cpu", "x.jprof").value(), EventId{0});
  EXPECT_EQ(find_event(profile, "alloc", "x.jprof").value(), EventId{1});
  const auto unknown = find_event(profile, "wall", "x.jprof");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, base::ErrorCode::kUsage);
  EXPECT_THAT(unknown.error().message, HasSubstr("'wall'"));
  EXPECT_THAT(unknown.error().cure, HasSubstr("cpu, alloc"));
}

TEST(EventChoice, ShowsThatEventInEveryFormat) {
  const profile::Profile profile = two_events();
  const auto written = [&](Format format, EventId event) {
    return write_as(profile, format, {.title = {}, .event = event}).value();
  };

  EXPECT_EQ(written(Format::kCollapsed, EventId{0}), "A.run 10000000\n");
  EXPECT_EQ(written(Format::kCollapsed, EventId{1}), "B.make 4096\n");
  EXPECT_THAT(written(Format::kSvg, EventId{1}),
              AllOf(HasSubstr("B.make"), HasSubstr("4,096 bytes"), Not(HasSubstr("A.run"))));
  EXPECT_THAT(written(Format::kTreeText, EventId{1}),
              AllOf(HasSubstr("B.make"), Not(HasSubstr("A.run"))));
  const base::Json tree = base::parse_json(written(Format::kTreeJson, EventId{1})).value();
  EXPECT_EQ(tree["event"], "alloc");
  EXPECT_EQ(tree["unit"], "bytes");
  EXPECT_EQ(tree["samples"], 2);
  EXPECT_THAT(written(Format::kPage, EventId{1}),
              AllOf(HasSubstr("B.make"), HasSubstr("cpu (1)"), Not(HasSubstr("A.run"))));
  EXPECT_THAT(write_as(profile, Format::kCollapsed,
                       {.title = {}, .threads = ThreadRoots::kThread, .event = EventId{1}})
                  .value(),
              "[main];B.make 4096\n");
}

TEST(EventChoice, KeepsAllInARecording) {
  const std::string bytes =
      write_as(two_events(), Format::kRecording, {.title = {}, .event = EventId{1}}).value();

  const profile::Profile back = read_any(bytes, "x.jprof").value();

  ASSERT_EQ(back.event_count(), 2U);
  EXPECT_EQ(back.event(EventId{0}).total_weight, 10'000'000U);
  EXPECT_EQ(back.event(EventId{1}).total_weight, 4096U);
}

TEST(EventChoice, TellsWhatIsLeftOut) {
  const profile::Profile profile = two_events();

  EXPECT_THAT(render::left_out_of(profile, EventId{0}),
              ElementsAre("samples of other events: alloc (2)"));
  EXPECT_THAT(render::left_out_of(profile, EventId{1}),
              ElementsAre("samples of other events: cpu (1)"));
  const Folded folded =
      folded_text(input_of(profile, "x.jprof"), KindSuffixes::kNo, "alloc").value();
  EXPECT_EQ(folded.text, "B.make 4096\n");
  EXPECT_EQ(folded.unit, profile::Unit::kBytes);
  EXPECT_THAT(folded.left_out, ElementsAre("samples of other events: cpu (1)"));
}

TEST(EventChoice, IsRefusedOfTextThatNamesNone) {
  const auto folded = folded_text({"x", "a;b 3\n"}, KindSuffixes::kNo, "cpu");

  ASSERT_FALSE(folded);
  EXPECT_EQ(folded.error().code, base::ErrorCode::kUsage);
  EXPECT_THAT(folded.error().cure, HasSubstr("leave out --event"));
}

TEST(EventChoice, ComparesOneEventOfBoth) {
  const Input both = input_of(two_events(), "both.jprof");
  DiffTold told;

  EXPECT_EQ(diff_as(both, both, Format::kCollapsed, {.title = {}, .event = "alloc"}, told).value(),
            "B.make 4096 4096\n");
  EXPECT_THAT(diff_as(both, both, Format::kPage, {.title = {}, .event = "alloc"}, told).value(),
              AllOf(HasSubstr("B.make"), Not(HasSubstr("A.run"))));
  EXPECT_THAT(told.left_out, ElementsAre("both.jprof: samples of other events: cpu (1)"));
  EXPECT_EQ(diff_as(both, both, Format::kPage, {.title = {}, .event = "lock"}, told).error().code,
            base::ErrorCode::kUsage);
}

TEST(EventChoice, ComparesNoBytesWithTime) {
  profile::ProfileBuilder builder;
  builder.event_info().name = "alloc";
  builder.event_info().unit = profile::Unit::kBytes;
  const auto frame = builder.intern_frame({.name = builder.intern_string("B.make")});
  builder.add_sample({.stack = builder.intern_stack(std::array{frame}), .weight = 8});
  const Input bytes = input_of(builder.build(), "bytes.jprof");
  const Input both = input_of(two_events(), "both.jprof");
  DiffTold told;

  for (const Format format : kDiffFormats) {
    const auto mixed = diff_as(both, bytes, format, {}, told);
    ASSERT_FALSE(mixed) << static_cast<int>(format);
    EXPECT_EQ(mixed.error().code, base::ErrorCode::kUsage);
    EXPECT_TRUE(diff_as(both, bytes, format, {.title = {}, .event = "alloc"}, told))
        << static_cast<int>(format);
  }
}

} // namespace
} // namespace jprof::formats
