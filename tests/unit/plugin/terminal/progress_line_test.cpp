// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/terminal/progress_line.h"
#include "plugin/terminal/table.h"

#include <gtest/gtest.h>

namespace jprof::plugin {
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
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "a\r\x1b[Ja\nb\r\x1b[1A\x1b[J");
}

TEST(Table, AlignsColumnsAndMakesCellsHarmless) {
  EXPECT_EQ(table_text({{"A", "LONG"}, {"evil\x1b[2J", ""}}),
            "A            LONG\nevil\\x1b[2J  -\n");
}

} // namespace
} // namespace jprof::plugin
