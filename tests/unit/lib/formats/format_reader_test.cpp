// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/formats/format_reader.h"
#include "lib/formats/format_writer.h"
#include "lib/formats/output_files.h"
#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace jprof::formats {
namespace {

using ::testing::HasSubstr;

base::Error failure_of(std::string_view text) {
  const auto profile = read_any(text, "dir/in.txt");
  return profile ? base::Error{} : profile.error();
}

std::string file_with(const jprof::testing::TempDir& folder, const std::string& text) {
  const std::string path = folder.path() + "/in";
  EXPECT_TRUE(base::write_file_atomically(path, text, 0600).has_value());
  return path;
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
  EXPECT_THAT(failure_of("\x1f\x8b\x08zip").message, HasSubstr("compressed with gzip"));
  EXPECT_THAT(failure_of("BZh91AY&SY 5\n").message, HasSubstr("compressed with bzip2"));
  EXPECT_THAT(failure_of(std::string_view("\xff\xfe"
                                          "a\0 \0005\0",
                                          8))
                  .message,
              HasSubstr("UTF-16"));
  EXPECT_THAT(failure_of(std::string_view("FLR\0abc", 7)).message, HasSubstr("other tools"));
  EXPECT_THAT(failure_of("<!doctype html>\n<p>").message, HasSubstr("read back"));
  EXPECT_THAT(failure_of("{\"a\": 1, \"b\": 2}").message, HasSubstr("speedscope"));
}

// Their styles have lines that end in a number, as stacks do.
TEST(ReadAny, RefusesPagesAndPicturesWhateverTheyHold) {
  const jprof::testing::TempDir folder;
  for (const std::string text : {"<!doctype html>\n<style>\na { top: 0 }\nmargin: 0 5\n",
                                 "\n <HTML lang=\"en\">\nmargin: 0 5\n", "<svg width=\"1\">\na 5\n",
                                 "<?xml version=\"1.0\"?>\n<svg width=\"1\">\na 5\n"}) {
    EXPECT_THAT(failure_of(text).message, HasSubstr("read back")) << text;
    EXPECT_THAT(failure_of(text).cure, HasSubstr(".jprof"));
    EXPECT_FALSE(read_profile(file_with(folder, text)).has_value());
    EXPECT_FALSE(folded_text({"in", text}, KindSuffixes::kYes).has_value());
  }
  EXPECT_THAT(failure_of("<project>\n<a/>\n</project>\n").message, HasSubstr("XML"));
  EXPECT_THAT(failure_of("<?xml version=\"1.0\"?>\n<a>\n x 5\n").message, HasSubstr("XML"));
  EXPECT_EQ(read_any("<init>;a 1\n<html>;b 2\n", "x")->event().total_count, 3U);
}

std::string recording_of(std::string_view folded) {
  return write_as(*read_any(folded, "in"), Format::kRecording).value();
}

TEST(ReadAny, KeepsWhatACutRecordingHoldsAndSaysWhatIsMissing) {
  const std::string whole = recording_of("a;b 3\na;c 1\n");

  EXPECT_EQ(read_any(whole, "x.jprof")->info().damage, "");
  const auto cut = read_any(std::string_view(whole).substr(0, whole.size() - 5), "x.jprof");
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(cut->event().total_count, 4U);
  EXPECT_THAT(cut->info().damage, HasSubstr("was cut off; 2 samples"));
  EXPECT_THAT(cut->info().damage, HasSubstr("bytes could not be used"));
  base::Json told;
  EXPECT_EQ(exit_code_of(cut->info().damage, told), 6);
  EXPECT_FALSE(base::json_bool(told, "ok"));
  const auto folded = folded_text({"x", whole.substr(0, whole.size() - 5)}, KindSuffixes::kNo);
  ASSERT_TRUE(folded.has_value());
  EXPECT_EQ(folded->left_out, std::vector<std::string>{cut->info().damage});
  EXPECT_EQ(folded->damage, cut->info().damage);
}

TEST(ReadAny, RefusesARecordingOfWhichNothingCanBeRead) {
  std::string damaged = recording_of("a;b 3\n");
  const base::Error half = failure_of(std::string_view(damaged).substr(0, damaged.size() / 2));
  EXPECT_EQ(half.code, base::ErrorCode::kInvalidData);
  EXPECT_THAT(half.message, HasSubstr("was cut off; 0 samples"));
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_THAT(failure_of(damaged).message, HasSubstr("is damaged; 0 samples"));
  const auto empty = read_any("", "x.jprof");
  ASSERT_FALSE(empty.has_value());
  EXPECT_THAT(empty.error().message, HasSubstr("empty"));
  EXPECT_FALSE(folded_text({"x.jprof", ""}, KindSuffixes::kNo).has_value());
}

TEST(ReadAny, TellsFormatsByTheirContent) {
  EXPECT_EQ(read_any("a;b 3\n", "x.html")->event().total_count, 3U);
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
  EXPECT_EQ(profile->event().total_count, 0U);
}

TEST(FoldedText, LeavesFoldedTextAsItIs) {
  EXPECT_EQ(folded_text({"x", "b 1.50 2\na 1 1\n"}, KindSuffixes::kYes)->text, "b 1.50 2\na 1 1\n");
}

// One line in some thousand of any bytes ends in a number.
TEST(ReadAny, RefusesBytesThatAreNoText) {
  std::mt19937 random(3);
  std::string bytes;
  for (int i = 0; i < 400'000; ++i) {
    bytes += static_cast<char>(random());
  }
  std::string without_nul = bytes;
  std::erase(without_nul, '\0');
  const jprof::testing::TempDir folder;
  for (const std::string& text : {bytes, without_nul, "main;a 5\n" + bytes}) {
    EXPECT_THAT(failure_of(text).message, HasSubstr("not text"));
    const auto from_file = read_profile(file_with(folder, text));
    ASSERT_FALSE(from_file.has_value());
    EXPECT_THAT(from_file.error().message, HasSubstr("not text"));
    EXPECT_FALSE(folded_text({"in", text}, KindSuffixes::kYes).has_value());
  }
}

TEST(ReadAny, TakesTextOfAnyEncodingAndAStrangeName) {
  EXPECT_EQ(read_any("main;caf\xe9;\x83\x65\x83\x58 5\n", "x")->event().total_count, 5U);
  EXPECT_EQ(read_any("\xef\xbb\xbfmain;\x01\x02 5\n<init>;a 1\n", "x")->event().total_count, 6U);
}

TEST(FoldedText, SaysWhatIsIgnored) {
  const auto folded = folded_text({"x", "a 1\n\nno count\nb 1e3\n"}, KindSuffixes::kNo);

  ASSERT_TRUE(folded.has_value());
  EXPECT_EQ(folded->left_out, std::vector<std::string>{"ignored lines: 2, the first is line 3"});
}

TEST(ReadInput, MakesAMissingFileTheCallersMistake) {
  const auto input = read_input("/does/not/exist");

  ASSERT_FALSE(input.has_value());
  EXPECT_EQ(input.error().code, base::ErrorCode::kUsage);
}

// Pieces of a file end anywhere, also in lines that are longer than a piece.
TEST(ReadProfile, ReadsFoldedFilesAsIfTheyWereWhole) {
  std::mt19937 random(7);
  const jprof::testing::TempDir folder;
  for (const char* const tail : {"", "\n", "last;one 7", "no count", "\r\n\n"}) {
    std::string text = std::string(3'500'000, 'x') + ";long 2\n";
    while (text.size() < 7'000'000) {
      for (int frames = 1 + static_cast<int>(random() % 60); frames > 0; --frames) {
        text += "com.acme.Class" + std::to_string(random() % 5000) + (frames > 1 ? ";" : " ");
      }
      text += std::to_string(random() % 1000) + (random() % 50 == 0 ? "\n\nignored\n" : "\n");
    }
    text += tail;

    const auto whole = read_any(text, "in");
    const auto pieces = read_profile(file_with(folder, text));

    ASSERT_TRUE(whole.has_value());
    ASSERT_TRUE(pieces.has_value());
    EXPECT_EQ(*write_as(*pieces, Format::kRecording), *write_as(*whole, Format::kRecording));
  }
}

TEST(ReadProfile, SeesSecondCountsBehindTheFirstPiece) {
  const jprof::testing::TempDir folder;
  std::string text;
  for (int i = 0; i < 200'000; ++i) {
    text += "a;b" + std::to_string(i % 10) + " 1 2\n";
  }
  EXPECT_EQ(read_profile(file_with(folder, text))->event().total_count, 400'000U);
  text += "a;c 5\n";

  const auto single = read_profile(file_with(folder, text));

  EXPECT_EQ(single->event().total_count, 400'005U);
  EXPECT_EQ(*write_as(*single, Format::kCollapsed),
            *write_as(*read_any(text, "in"), Format::kCollapsed));
}

TEST(ReadProfile, NamesTheFileAndTheLine) {
  const jprof::testing::TempDir folder;
  const std::string path = file_with(folder, "\nno count\n");

  const auto profile = read_profile(path);

  ASSERT_FALSE(profile.has_value());
  EXPECT_THAT(profile.error().message, HasSubstr(path + ": line 2: no count"));
  EXPECT_EQ(read_profile("/does/not/exist").error().code, base::ErrorCode::kUsage);
}

} // namespace
} // namespace jprof::formats
