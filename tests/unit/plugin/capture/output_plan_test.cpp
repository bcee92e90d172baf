// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/output_plan.h"

#include <gtest/gtest.h>

namespace jprof::plugin {
namespace {

TEST(OutputPlan, MakesAPageWhereNothingIsAsked) {
  const auto plan = plan_outputs({});

  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->size(), 1U);
  EXPECT_EQ((*plan)[0].format, "html");
  EXPECT_EQ((*plan)[0].path, "");
}

TEST(OutputPlan, TakesTheFormatFromTheEnding) {
  const auto plan = plan_outputs({"/tmp/a.b.html", "x.pb.gz", "y.json"});

  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ((*plan)[0].format, "html");
  EXPECT_EQ((*plan)[1].format, "pb.gz");
  EXPECT_EQ((*plan)[2].format, "json");
}

TEST(OutputPlan, RefusesWhatNamesNoFormat) {
  for (const char* name : {"json", "x", "x.bmp", ".html", "", "html", "a.gz"}) {
    EXPECT_FALSE(plan_outputs({name}).has_value()) << name;
  }
  EXPECT_NE(plan_outputs({"json"}).error().cure.find("--json"), std::string::npos);
  EXPECT_FALSE(plan_outputs({"a.html", "b.html"}).has_value());
}

TEST(OutputPlan, BuildsNamesThatStayInTheWorkingDirectory) {
  const auto time =
      std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + std::chrono::hours{10};

  EXPECT_EQ(time_label(time), "20261121T100000Z");
  EXPECT_EQ(default_path("checkout-7d9f", time_label(time), "html"),
            "jprof-checkout-7d9f-20261121T100000Z.html");
  EXPECT_EQ(default_path("../../etc/x\n", "y", "html"), "jprof-..-..-etc-x--y.html");
  EXPECT_EQ(path_for_pod("out/x.pb.gz", "pb.gz", "a"), "out/x-a.pb.gz");
}

TEST(OutputPlan, RefusesAPlaceThatCannotTakeFiles) {
  EXPECT_TRUE(check_places({{"html", "x.html"}, {"html", "/tmp/x.html"}}).has_value());
  const auto missing = check_places({{"html", "/nonexistent/x.html"}});
  EXPECT_EQ(missing.error().code, base::ErrorCode::kUsage);
}

} // namespace
} // namespace jprof::plugin
