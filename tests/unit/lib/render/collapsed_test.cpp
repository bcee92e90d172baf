// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profile_builder.h"
#include "lib/render/collapsed_reader.h"
#include "lib/render/collapsed_writer.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace {

using namespace jprof;
using render::CountColumns;

profile::Profile folded(std::string_view text) {
  auto profile = render::read_collapsed(text, "test");
  EXPECT_TRUE(profile.has_value());
  return std::move(*profile);
}

TEST(Collapsed, ReadsWhatItWrote) {
  std::mt19937 random(42);
  std::map<std::string, std::uint64_t> truth;
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    std::string stack;
    for (auto depth = 1 + random() % 12; depth > 0; --depth) {
      stack += (stack.empty() ? "" : ";") + ("f" + std::to_string(random() % 40));
    }
    const std::uint64_t count = 1 + random() % 1000;
    truth[stack] += count;
    text += stack + " " + std::to_string(count) + "\n";
  }
  std::string expected;
  for (const auto& [stack, count] : truth) {
    expected += stack + " " + std::to_string(count) + "\n";
  }

  const std::string once = render::write_collapsed(folded(text));

  EXPECT_EQ(once, expected);
  EXPECT_EQ(render::write_collapsed(folded(once)), once);
}

TEST(Collapsed, KeepsNamesOnOneLineAndInOnePiece) {
  profile::ProfileBuilder builder;
  const auto frame = [&](std::string_view name) {
    return builder.intern_frame({.name = builder.intern_string(name)});
  };
  const profile::FrameId frames[] = {frame("a;b"), frame("c\nd\r\x01"), frame(""), frame("e f")};
  builder.add_sample({.stack = builder.intern_stack(frames), .count = 3, .weight = 30});
  builder.add_sample({.stack = builder.intern_stack({}), .count = 1, .weight = 10});
  const profile::Profile profile = builder.build();

  EXPECT_EQ(render::write_collapsed(profile), "[empty stack] 10\na:b;c d  ;[unnamed];e f 30\n");
}

TEST(Collapsed, AnnotatesKindsWhenAsked) {
  profile::ProfileBuilder builder;
  const profile::FrameId frames[] = {
      builder.intern_frame({.kind = profile::FrameKind::kC2, .name = builder.intern_string("A.b")}),
      builder.intern_frame(
          {.kind = profile::FrameKind::kKernel, .name = builder.intern_string("sys_read")})};
  builder.add_sample({.stack = builder.intern_stack(frames), .weight = 1});
  const profile::Profile profile = builder.build();

  const std::string text =
      render::write_collapsed(profile, {.suffix = render::KindSuffix::kAnnotate});

  EXPECT_EQ(text, "A.b_[j];sys_read_[k] 1\n");
  EXPECT_EQ(folded(text).frames().back().kind, profile::FrameKind::kKernel);
}

TEST(Collapsed, TellsNeighboursApartWhereverTheyDiffer) {
  const std::string text =
      "a 1\na; 2\na;; 3\na;b 4\na;b;c 5\na;bc 6\na;bc;d 7\nab 8\nab;b 9\n 10\n";

  const auto profile = render::read_collapsed(text, "neighbours");

  ASSERT_TRUE(profile.has_value());
  std::string out;
  for (const auto& sample : profile->event().samples) {
    for (const auto frame : profile->stack(sample.stack)) {
      out += "(" + std::string(profile->string(profile->frame(frame).name)) + ")";
    }
    out += " " + std::to_string(sample.count) + "\n";
  }
  EXPECT_EQ(out,
            "(a) 1\n(a)() 2\n(a)()() 3\n(a)(b) 4\n(a)(b)(c) 5\n(a)(bc) 6\n(a)(bc)(d) 7\n(ab) 8\n"
            "(ab)(b) 9\n 10\n");
}

TEST(Collapsed, IgnoresLinesWithoutACountAndSaysSo) {
  const profile::Profile profile = folded("a;b 2\nnonsense\n\n# x\na;c 0x7\n");

  EXPECT_EQ(profile.event().total_count, 2U);
  ASSERT_EQ(profile.info().facts.size(), 1U);
  EXPECT_EQ(profile.info().facts[0].first, "ignored lines");
  EXPECT_EQ(profile.info().facts[0].second, "3, the first is line 2");
}

TEST(Collapsed, RefusesTextWithoutAnyCount) {
  const auto profile = render::read_collapsed("hello\nworld\n", "x");

  ASSERT_FALSE(profile.has_value());
  EXPECT_EQ(profile.error().code, base::ErrorCode::kInvalidData);
}

TEST(Collapsed, KeepsTheSharesOfCountsWithDecimals) {
  const profile::Profile profile = folded("a 1.5\nb 2.25\nc 10\n");

  EXPECT_EQ(render::write_collapsed(profile), "a 150\nb 225\nc 1000\n");
  EXPECT_EQ(profile.info().facts[0].first, "counts");
  EXPECT_TRUE(render::left_out_of(profile).empty());
}

// With a sum near 2^53 there is no room for all decimals.
TEST(Collapsed, SaysWhatItRounds) {
  const profile::Profile profile = folded("a 8000000000000000\nb 0.5\n");

  EXPECT_EQ(profile.info().facts[0].first, "rounded counts");
  EXPECT_FALSE(render::left_out_of(profile).empty());
}

TEST(Collapsed, SaysWhichLineHasTooLargeACount) {
  const profile::Profile profile = folded("a 10\nb 99999999999999999999\n\nnonsense\n");

  EXPECT_EQ(profile.event().total_count, 10U);
  EXPECT_EQ(
      render::left_out_of(profile),
      std::vector<std::string>{"ignored lines: 2, the first is line 2: its count is above 9e15"});
}

TEST(Collapsed, RefusesASumThatHasNoExactNumber) {
  const auto profile = render::read_collapsed("a 8000000000000000\nb 8000000000000000\n", "x");

  ASSERT_FALSE(profile.has_value());
  EXPECT_EQ(profile.error().code, base::ErrorCode::kLimit);
}

TEST(FoldedLine, TellsANumberInANameFromASecondCount) {
  EXPECT_EQ(render::count_columns("a;Thread 5 100\na;b 3\n"), CountColumns::kOne);
  EXPECT_EQ(render::count_columns("a;b 5 100\na;c 0 3\n"), CountColumns::kUpToTwo);
  EXPECT_EQ(render::write_collapsed(folded("a;Thread 5 100\na;b 3\n")), "a;Thread 5 100\na;b 3\n");
  EXPECT_EQ(render::write_collapsed(folded("a;b 5 100\n")), "a;b 100\n");
}

} // namespace
