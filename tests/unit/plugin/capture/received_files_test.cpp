// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "plugin/capture/received_files.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace jprof::plugin {
namespace {

using base::ErrorCode;

class ReceivedFilesTest : public ::testing::Test {
 protected:
  protocol::ResultMessage result(std::uint64_t offset = 0) const {
    protocol::ResultMessage out;
    out.files = {{"flamegraph.html", content_.size(), offset, base::sha256_hex(content_)}};
    return out;
  }
  base::Status add(std::uint64_t offset, std::size_t count) {
    return files_.add({0, offset, std::string_view(content_).substr(offset, count)});
  }

  testing::TempDir dir_;
  std::string content_ = std::string(100'000, 'a') + std::string(50'000, 'b');
  ReceivedFiles files_{[this](const std::string& format) {
    return format == "html" ? dir_.path() + "/x.html" : std::string();
  }};
};

TEST_F(ReceivedFilesTest, GoesOnWhereAConnectionWasCut) {
  ASSERT_TRUE(files_.begin(result()).has_value());
  ASSERT_TRUE(add(0, 60'000).has_value());

  const protocol::FetchRequest resume = files_.resume_request("ID");
  ASSERT_EQ(resume.names, std::vector<std::string>{"flamegraph.html"});
  EXPECT_EQ(resume.offsets, std::vector<std::uint64_t>{60'000});

  ASSERT_TRUE(files_.begin(result(60'000)).has_value());
  ASSERT_TRUE(add(60'000, 90'000).has_value());
  ASSERT_TRUE(files_.finish().has_value());
  ASSERT_TRUE(files_.files()[0].pending.commit(base::Replace::kAllow).has_value());
  EXPECT_EQ(*base::read_file(dir_.path() + "/x.html", 1'000'000), content_);
}

TEST_F(ReceivedFilesTest, CanBeginAgainFromTheStart) {
  ASSERT_TRUE(files_.begin(result()).has_value());
  ASSERT_TRUE(add(0, 60'000).has_value());

  ASSERT_TRUE(files_.begin(result(0)).has_value());
  ASSERT_TRUE(add(0, 150'000).has_value());
  EXPECT_TRUE(files_.finish().has_value());
}

TEST_F(ReceivedFilesTest, RefusesAFileThatChangedMeanwhile) {
  ASSERT_TRUE(files_.begin(result()).has_value());
  ASSERT_TRUE(add(0, 10).has_value());
  protocol::ResultMessage other = result(10);
  other.files[0].sha256 = std::string(64, '0');

  EXPECT_EQ(files_.begin(other).error().code, ErrorCode::kProtocol);
}

TEST_F(ReceivedFilesTest, RefusesAnOffsetThatItNeverReached) {
  ASSERT_TRUE(files_.begin(result()).has_value());
  EXPECT_FALSE(files_.begin(result(10)).has_value());
}

TEST_F(ReceivedFilesTest, RefusesWhatWasNotAskedFor) {
  protocol::ResultMessage other = result();
  other.files[0].name = "profile.jfr";

  EXPECT_EQ(files_.begin(other).error().code, ErrorCode::kProtocol);
}

TEST_F(ReceivedFilesTest, RefusesMoreThanAnyCaptureHolds) {
  for (const std::uint64_t bytes : {(std::uint64_t{4} << 30U) + 1, ~std::uint64_t{0}}) {
    protocol::ResultMessage huge = result();
    huge.files[0].bytes = bytes;
    ReceivedFiles files([this](const std::string&) { return dir_.path() + "/huge.html"; });

    EXPECT_EQ(files.begin(huge).error().code, ErrorCode::kProtocol);
    EXPECT_FALSE(files.started());
  }
}

TEST_F(ReceivedFilesTest, AddsUpSizesThatWouldOverflow) {
  protocol::ResultMessage two = result();
  two.files.push_back({"stacks.collapsed", ~std::uint64_t{0}, 0, std::string(64, '0')});
  ReceivedFiles files([this](const std::string& format) { return dir_.path() + "/x." + format; });

  EXPECT_EQ(files.begin(two).error().code, ErrorCode::kProtocol);
}

TEST_F(ReceivedFilesTest, IsNotDoneBeforeTheLastByte) {
  ASSERT_TRUE(files_.begin(result()).has_value());
  ASSERT_TRUE(add(0, 149'999).has_value());

  EXPECT_EQ(files_.finish().error().code, ErrorCode::kProtocol);
}

} // namespace
} // namespace jprof::plugin
