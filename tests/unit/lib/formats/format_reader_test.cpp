// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/format_reader.h"
#include "lib/formats/format_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jprof::formats {
namespace {

using ::testing::HasSubstr;

base::Error failure_of(std::string_view text) {
  const auto profile = read_any(text, "dir/in.txt");
  return profile ? base::Error{} : profile.error();
}

TEST(ReadAny, NamesTheFileAndTheLine) {
  const base::Error error = failure_of("\nno count\nnor here\n");

  EXPECT_EQ(error.code, base::ErrorCode::kInvalidData);
  EXPECT_THAT(error.message, HasSubstr("dir/in.txt: line 2: no count"));
}

TEST(ReadAny, NamesTheProfileAndTheSample) {
  const base::Error error =
      failure_of(R"({"shared":{"frames":[{"name":"a"}]},"profiles":[)"
                 R"({"type":"sampled","unit":"none","samples":[[0]],"weights":[1]},)"
                 R"({"type":"sampled","unit":"none","samples":[[0],[7]],"weights":[1,1]}]})");

  EXPECT_THAT(error.message, HasSubstr("profile 2: sample 2 has a frame that is not in the list"));
}

TEST(ReadAny, SaysWhatIsNoProfile) {
  EXPECT_THAT(failure_of("\x1f\x8b\x08zip").message, HasSubstr("compressed"));
  EXPECT_THAT(failure_of(std::string_view("FLR\0abc", 7)).message, HasSubstr("other tools"));
  EXPECT_THAT(failure_of("<!doctype html>\n<p>").message, HasSubstr("read back"));
  EXPECT_THAT(failure_of("{\"a\": 1, \"b\": 2}").message, HasSubstr("speedscope"));
}

TEST(ReadAny, TellsFormatsByTheirContent) {
  EXPECT_EQ(read_any("a;b 3\n", "x.html")->total_count(), 3U);
  EXPECT_EQ(
      read_any("java 7/9 [000] 1.000000: 1 cycles:\n\tff f (m)\n\n", "x")->info().facts[0].second,
      "perf script");
  EXPECT_EQ(read_any("Full thread dump X:\n\"t\" #1 tid=0x1 nid=0x2 runnable\n"
                     "   java.lang.Thread.State: RUNNABLE\n\tat a.B.c(B.java:1)\n",
                     "x")
                ->info()
                .facts[0]
                .second,
            "thread dumps");
}

TEST(ReadAny, TakesAnEmptyTextAsAnEmptyProfile) {
  const auto profile = read_any("", "x");

  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->total_count(), 0U);
}

TEST(FoldedText, LeavesFoldedTextAsItIs) {
  EXPECT_EQ(*folded_text({"x", "b 1.50 2\na 1 1\n"}, KindSuffixes::kYes), "b 1.50 2\na 1 1\n");
}

TEST(ReadInput, MakesAMissingFileTheCallersMistake) {
  const auto input = read_input("/does/not/exist");

  ASSERT_FALSE(input.has_value());
  EXPECT_EQ(input.error().code, base::ErrorCode::kUsage);
}

} // namespace
} // namespace jprof::formats
