// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/checks/check.h"

#include <gtest/gtest.h>

namespace jprof::checks {
namespace {

using base::ErrorCode;

std::vector<Check> sample() {
  return {pass(CheckId::kProcess, "pid 7 runs"), warn(CheckId::kNotice, "prints", "silence it"),
          fail(CheckId::kAgents,
               base::make_error(ErrorCode::kAgentLoadingDisabled, "forbidden", "allow it")),
          skip(CheckId::kPlace, "not asked")};
}

TEST(Checks, GoThroughJsonAndBack) {
  const auto back = from_json(to_json(sample()));

  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), 4U);
  EXPECT_EQ((*back)[1].verdict, Verdict::kWarn);
  EXPECT_EQ((*back)[1].cure, "silence it");
  EXPECT_EQ((*back)[2].id, CheckId::kAgents);
  EXPECT_EQ((*back)[2].code, ErrorCode::kAgentLoadingDisabled);
  EXPECT_EQ((*back)[3].detail, "not asked");
}

TEST(Checks, OfANewerPeerAreLeftOut) {
  base::Json rows = to_json(sample());
  rows.push_back({{"check", "from the future"}, {"verdict", "pass"}});
  rows.push_back({{"check", "jvm"}, {"verdict", "perhaps"}});
  rows.push_back("no object");

  EXPECT_EQ(from_json(rows)->size(), 4U);
  EXPECT_FALSE(from_json(base::Json::object()));
}

TEST(Checks, EndWithTheFirstFailure) {
  EXPECT_EQ(exit_code(sample()), 5);
  EXPECT_EQ(exit_code({pass(CheckId::kJvm, "x"), warn(CheckId::kTimers, "y", "z")}), 0);
}

TEST(Checks, AreShownOneALineWithTheirCure) {
  const std::string text = to_text(sample(), Color::kNo);

  EXPECT_EQ(text, "pass  process   pid 7 runs\n"
                  "warn  notice    prints\n"
                  "                -> silence it\n"
                  "fail  agents    forbidden\n"
                  "                -> allow it\n"
                  "skip  place     not asked\n");
}

TEST(Checks, ShowNothingThatATerminalObeys) {
  const std::string text = to_text({pass(CheckId::kJvm, "\x1b[2Jname\nforged")}, Color::kNo);

  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

} // namespace
} // namespace jprof::checks
