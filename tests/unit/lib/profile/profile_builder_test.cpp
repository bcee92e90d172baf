// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profile_builder.h"

#include <gtest/gtest.h>

#include <array>

namespace jprof::profile {
namespace {

using namespace std::chrono_literals;

TEST(ProfileBuilder, GivesEqualThingsEqualIds) {
  ProfileBuilder builder;
  const Frame frame{.kind = FrameKind::kC2, .name = builder.intern_string("a.B.c")};
  const std::array stack{builder.intern_frame(frame)};

  EXPECT_EQ(builder.intern_string("a.B.c"), frame.name);
  EXPECT_EQ(builder.intern_frame(frame), stack[0]);
  EXPECT_EQ(builder.intern_stack(stack), builder.intern_stack(stack));
  EXPECT_NE(builder.intern_stack(stack), builder.intern_stack({}));
}

TEST(ProfileBuilder, SumsAndSortsSamples) {
  ProfileBuilder builder;
  builder.info().has_times = true;
  const StackId stack = builder.intern_stack({});
  builder.add_sample({.time = 2s, .stack = stack, .weight = 5});
  builder.add_sample({.time = 1s, .stack = stack, .weight = 7});

  const Profile profile = builder.build();

  EXPECT_EQ(profile.event().total_weight, 12U);
  EXPECT_EQ(profile.event().total_count, 2U);
  EXPECT_EQ(profile.event().samples[0].time, 1s);
}

TEST(ProfileBuilder, KeepsTextValid) {
  ProfileBuilder builder;
  const StringId id = builder.intern_string("\xff");
  const Frame frame{.name = id};
  builder.intern_frame(frame);

  EXPECT_EQ(builder.build().string(id), "\ufffd");
}

TEST(ProfileBuilder, GivesAnEmptyProfileForNothing) {
  const Profile profile = ProfileBuilder().build();

  EXPECT_EQ(profile.event().samples.size(), 0U);
  EXPECT_EQ(profile.threads().size(), 1U);
  EXPECT_EQ(profile.string(kNoString), "");
}

} // namespace
} // namespace jprof::profile
