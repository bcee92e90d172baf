// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "sidecar/spool/ledger.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace jprof::spool {
namespace {

const Ledger::Time kNow = std::chrono::system_clock::from_time_t(1'800'000'000);
constexpr std::uint64_t kMany = 1000;

class LedgerTest : public ::testing::Test {
 protected:
  jprof::testing::TempDir directory_;
  Ledger ledger_{directory_.path()};
};

TEST_F(LedgerTest, CountsEachCaptureOnce) {
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
    ASSERT_TRUE(ledger_.accept(id, kNow, kMany));
  }
  ASSERT_TRUE(ledger_.accept("a", kNow, kMany)); // a retry is the same capture
  ASSERT_TRUE(ledger_.close("a", Ending::kDelivered));
  ASSERT_TRUE(ledger_.close("a", Ending::kFailed)); // nothing: it has ended
  ASSERT_TRUE(ledger_.close("b", Ending::kExpired));
  ASSERT_TRUE(ledger_.close("c", Ending::kFailed));
  ASSERT_TRUE(ledger_.close("d", Ending::kAbandoned));
  ASSERT_TRUE(ledger_.set_state("e", OpenState::kQuarantined));

  const auto content = ledger_.read();

  ASSERT_TRUE(content);
  EXPECT_EQ(content->accepted, 6U);
  EXPECT_EQ(content->delivered, 1U);
  EXPECT_EQ(content->expired, 1U);
  EXPECT_EQ(content->failed, 1U);
  EXPECT_EQ(content->abandoned, 1U);
  EXPECT_EQ(content->count_open(OpenState::kQuarantined), 1U);
  EXPECT_EQ(content->count_open(OpenState::kRecording), 1U);
  EXPECT_TRUE(content->balanced());
}

TEST_F(LedgerTest, RefusesMoreThanTheHourAllowsAndSaysWhenToComeBack) {
  ASSERT_TRUE(ledger_.accept("a", kNow, 2));
  ASSERT_TRUE(ledger_.accept("b", kNow + std::chrono::minutes(30), 2));

  const auto refused = ledger_.accept("c", kNow + std::chrono::minutes(59), 2);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::kLimit);
  EXPECT_NE(refused.error().cure.find("in 60 s"), std::string::npos) << refused.error().cure;
  EXPECT_TRUE(ledger_.accept("c", kNow + std::chrono::minutes(61), 2));
  EXPECT_EQ(ledger_.read()->accepted, 3U);
}

TEST_F(LedgerTest, IsNotLockedForeverByAClockThatWasSetBack) {
  ASSERT_TRUE(ledger_.accept("a", kNow, 1));
  EXPECT_TRUE(ledger_.accept("b", kNow - std::chrono::hours(48), 1));
}

TEST_F(LedgerTest, SaysThatItIsDamagedRatherThanCountFromZero) {
  ASSERT_TRUE(ledger_.accept("a", kNow, kMany));
  const std::string path = directory_.path() + "/ledger.json";
  const std::string text = *base::read_file(path, 100'000);
  for (std::string damaged : {std::string(), text.substr(0, text.size() / 2),
                              std::string(text.size(), '\0'), std::string("{}")}) {
    ASSERT_TRUE(base::write_file_atomically(path, damaged, 0600));
    EXPECT_EQ(ledger_.read().error().code, base::ErrorCode::kInvalidData);
  }
  ASSERT_TRUE(ledger_.replace_damaged());
  EXPECT_EQ(ledger_.read()->accepted, 0U);
}

} // namespace
} // namespace jprof::spool
