// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/formats/output_files.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>

namespace jprof::formats {
namespace {

constexpr std::array kTwo{Format::kPage, Format::kCollapsed};

TEST(PlanOutputs, TakesTheFormatFromTheEnding) {
  const auto outputs = plan_outputs({{"a.html", "b.folded"}, "", false}, kTwo);

  ASSERT_TRUE(outputs.has_value());
  EXPECT_EQ((*outputs)[0].format, Format::kPage);
  EXPECT_EQ((*outputs)[1].format, Format::kCollapsed);
}

TEST(PlanOutputs, GivesFoldedTextToStandardOutputUnlessToldOtherwise) {
  EXPECT_EQ(plan_outputs({{}, "", false}, kTwo)->front().format, Format::kCollapsed);
  EXPECT_EQ(plan_outputs({{"-"}, "html", false}, kTwo)->front().format, Format::kPage);
}

TEST(PlanOutputs, RefusesWhatCannotBe) {
  const auto refused = [](const OutputRequest& request) {
    const auto outputs = plan_outputs(request, kTwo);
    return !outputs && outputs.error().code == base::ErrorCode::kUsage;
  };

  EXPECT_TRUE(refused({{"a.svg"}, "", false}));      // not allowed here
  EXPECT_TRUE(refused({{"a.docx"}, "", false}));     // no format
  EXPECT_TRUE(refused({{"html"}, "", false}));       // a bare word
  EXPECT_TRUE(refused({{"a.html"}, "html", false})); // --to without standard output
  EXPECT_TRUE(refused({{"-", "-"}, "", false}));
  EXPECT_TRUE(refused({{}, "", true})); // --json has it already
}

TEST(WriteOutputs, WritesNothingIfOneFormatCannotBeMade) {
  const testing::TempDir folder;
  const std::vector<OutputFile> outputs = {{folder.path() + "/a.html", Format::kPage},
                                           {folder.path() + "/b.svg", Format::kSvg}};

  const auto render = [](Format format) -> base::Result<std::string> {
    if (format == Format::kSvg) {
      return base::make_failure(base::ErrorCode::kInvalidData, "no");
    }
    return "page";
  };
  const auto written = write_outputs(outputs, render, nullptr);

  EXPECT_FALSE(written.has_value());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(WriteOutputs, SaysThatAFolderIsMissing) {
  const std::vector<OutputFile> outputs = {{"/nowhere/at/all/a.html", Format::kPage}};

  const auto written = write_outputs(
      outputs, [](Format) { return std::string("x"); }, nullptr);

  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, base::ErrorCode::kUsage);
}

TEST(WriteOutputs, WritesTheOthersWhereOneCannotBeWritten) {
  const testing::TempDir folder;
  const std::vector<OutputFile> outputs = {{"/nowhere/a.html", Format::kPage},
                                           {folder.path() + "/b.svg", Format::kSvg},
                                           {"/nobody/c.html", Format::kPage}};

  const auto written = write_outputs(
      outputs, [](Format) { return std::string("x"); }, nullptr);

  ASSERT_FALSE(written.has_value());
  for (const char* part : {"/nowhere", "/nobody", "written: "}) {
    EXPECT_NE(written.error().message.find(part), std::string::npos) << written.error().message;
  }
  EXPECT_EQ(base::read_file(folder.path() + "/b.svg", 10).value_or(""), "x");
}

} // namespace
} // namespace jprof::formats
