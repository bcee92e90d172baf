// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/cpu_account.h"

#include <gtest/gtest.h>

namespace jprof::record {
namespace {

using namespace std::chrono_literals;

RecorderResult with_half_in_samples() {
  RecorderResult result;
  result.coverage.process = 2s;
  result.coverage.samples = 1s;
  return result;
}

TEST(CoverageWarning, NamesNoCauseThatIsNotThere) {
  const std::string warning = coverage_warning_of(with_half_in_samples());

  EXPECT_NE(warning.find("shares may mislead; no cause is known"), std::string::npos) << warning;
}

TEST(CoverageWarning, TellsThreadsThatUsedTooLittleFromThoseThatEnded) {
  RecorderResult brief = with_half_in_samples();
  brief.coverage.not_sampled = 1s;
  RecorderResult ended = with_half_in_samples();
  ended.coverage.ended_unseen = 1s;

  EXPECT_NE(coverage_warning_of(brief).find(
                "known causes: 1.00 s in threads that used too little for a sample"),
            std::string::npos)
      << coverage_warning_of(brief);
  EXPECT_EQ(coverage_warning_of(brief).find("ended"), std::string::npos);
  EXPECT_NE(coverage_warning_of(ended).find(
                "known causes: 1.00 s in threads that ended before they were found"),
            std::string::npos)
      << coverage_warning_of(ended);
}

TEST(CoverageWarning, BlamesWhatCouldNotBeSampledOnce) {
  RecorderResult result = with_half_in_samples();
  result.coverage.not_sampled = 1s;
  result.blocked = {.threads = 2, .cpu = 1s};

  const std::string warning = coverage_warning_of(result);

  EXPECT_NE(warning.find("1.00 s in 2 threads that block the sampling signal"), std::string::npos)
      << warning;
  EXPECT_EQ(warning.find("too little"), std::string::npos) << warning;
}

} // namespace
} // namespace jprof::record
