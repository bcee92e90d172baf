// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/descriptor_room.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace jprof::jvm {
namespace {

TEST(OpenFilesLimit, IsTheSoftOne) {
  EXPECT_EQ(open_files_limit("Max locked memory         8388608    8388608    bytes     \n"
                             "Max open files            1024       524288     files     \n"),
            1024U);
  EXPECT_EQ(open_files_limit("Max open files            unlimited  unlimited  files \n"),
            ~std::uint64_t{0});
}

TEST(OpenFilesLimit, IsZeroWhereTheTextDoesNotSay) {
  EXPECT_EQ(open_files_limit(""), 0U);
  EXPECT_EQ(open_files_limit("Max open files"), 0U);
  EXPECT_EQ(open_files_limit("Max open files            few"), 0U);
}

// This process itself, with so many descriptors left below its soft limit.
class DescriptorRoom : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0); }
  void TearDown() override {
    open_.clear();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0);
  }

  base::Status check(std::size_t left) {
    auto proc = container::ProcRoot::open();
    auto process = container::Process::open(*proc, ::getpid());
    auto status = process->status();
    const rlimit low{.rlim_cur = 200, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    for (;;) {
      base::UniqueFd fd(::dup(0));
      if (!fd) {
        break;
      }
      open_.push_back(std::move(fd));
    }
    open_.resize(open_.size() - left);
    const Target self{std::move(*process), *status, {}};
    return check_descriptor_room(self, *self.process.status());
  }

  rlimit before_{};
  std::vector<base::UniqueFd> open_;
};

TEST_F(DescriptorRoom, PassesWhereThereIsSome) {
  const auto status = check(40);
  EXPECT_TRUE(status) << status.error().text();
}

TEST_F(DescriptorRoom, SaysWhatIsMissingAndWhatHelps) {
  const auto status = check(5);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::ErrorCode::kAttachFailed);
  EXPECT_NE(status.error().text().find("of its 200 file descriptors"), std::string::npos)
      << status.error().text();
}

} // namespace
} // namespace jprof::jvm
