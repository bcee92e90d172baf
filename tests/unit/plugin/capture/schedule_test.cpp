// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/timestamp.h"
#include "plugin/capture/schedule.h"

#include <gtest/gtest.h>

namespace jprof::plugin {
namespace {

TEST(Schedule, ReadsTheMinuteFromTheNameOfAJob) {
  const auto time = scheduled_time("nightly-checkout-29396105");

  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(base::format_utc(*time), "2025-11-21T23:05:00Z");
}

TEST(Schedule, TakesNoOtherJobForAScheduledOne) {
  for (const char* name : {"", "job", "job-1", "job-2939610", "job-293961050", "job-abcdefgh",
                           "job-00000001", "29396105", "job-29396105-x"}) {
    EXPECT_FALSE(scheduled_time(name).has_value()) << name;
  }
}

TEST(Schedule, FindsTheJobOfAPod) {
  EXPECT_EQ(job_of_pod("nightly-29396105-x7k2p"), "nightly-29396105");
  EXPECT_EQ(job_of_pod("short"), "");
  EXPECT_EQ(job_of_pod("nodashatall"), "");
}

} // namespace
} // namespace jprof::plugin
