// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/progress_text.h"

#include <gtest/gtest.h>

namespace jprof::capture {
namespace {

using namespace std::chrono_literals;

TEST(ProgressText, SaysTimeSamplesRateAndLosses) {
  EXPECT_EQ(recording_text(12s, 60s, 1203, 0), "12/60 s, 1203 samples, 100/s");
  EXPECT_EQ(recording_text(1500ms, 60s, 3, 2), "1/60 s, 3 samples, 2/s, 2 lost");
  EXPECT_EQ(recording_text(990ms, 60s, 90, 0), "0/60 s, 90 samples");
}

TEST(ProgressText, KnowsHowMuchIsDone) {
  EXPECT_EQ(part_of(15s, 60s), 0.25);
  EXPECT_EQ(part_of(15s, 0s), std::nullopt);
}

} // namespace
} // namespace jprof::capture
