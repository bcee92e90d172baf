// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/progress_line.h"

#include <gtest/gtest.h>

namespace jprof::cli {
namespace {

TEST(ProgressLine, CutsAtAColumnNotInsideACharacter) {
  EXPECT_EQ(fit_columns("abc", 3), "abc");
  EXPECT_EQ(fit_columns("abcd", 3), "ab…");
  EXPECT_EQ(fit_columns("äöüß", 4), "äöüß");
  EXPECT_EQ(fit_columns("äöüßx", 4), "äöü…");
}

TEST(ProgressLine, SaysEachKindOfStateOnceWhereThereIsNoTerminal) {
  ::testing::internal::CaptureStderr();
  {
    ProgressLine line(ProgressLine::Mode::kLines, 2);
    line.update(0, "recording", "a: recording 1 s");
    line.update(0, "recording", "a: recording 2 s");
    line.update(1, "recording", "b: recording 1 s");
    line.update(0, "sealing", "a: sealing");
    line.update(0, "done", "");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "a: recording 1 s\nb: recording 1 s\na: sealing\n");
}

TEST(ProgressLine, ErasesItsLinesOnATerminal) {
  ::testing::internal::CaptureStderr();
  {
    ProgressLine line(ProgressLine::Mode::kTerminal, 2);
    line.update(0, "x", "a");
    line.update(1, "x", "b");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "| a\r\x1b[J/ a\n/ b\r\x1b[1A\x1b[J");
}

// On a terminal of 80 columns, which is what is assumed where none can be asked.
TEST(ProgressLine, DrawsABarWhereItIsKnownHowMuchIsDone) {
  ::testing::internal::CaptureStderr();
  {
    ProgressLine line(ProgressLine::Mode::kTerminal, 1);
    line.update(0, "x", "a", 0.0);
    line.update(0, "x", "a", 0.5);
    line.update(0, "x", std::string(100, 'a'), 1.5);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "| [                    ] a"
                                                      "\r\x1b[J/ [##########          ] a"
                                                      "\r\x1b[J- [####################] " +
                                                          std::string(53, 'a') + "…\r\x1b[J");
}

TEST(ProgressLine, HasNoSpinnerAndNoBarWhereThereIsNoTerminal) {
  ::testing::internal::CaptureStderr();
  {
    ProgressLine line(ProgressLine::Mode::kLines, 1);
    line.update(0, "x", "a", 0.5);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "a\n");
}

} // namespace
} // namespace jprof::cli
