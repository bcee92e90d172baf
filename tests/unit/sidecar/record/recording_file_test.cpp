// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/base/file.h"
#include "sidecar/record/recording_file.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>

namespace jprof::record {
namespace {

// For as long as it lives, files of this process have `bytes` at most.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(RecordingFile, RefusesWholeAndHasRoomForTheEndThen) {
  const jprof::testing::TempDir folder;
  RecordingFile file = RecordingFile::create(folder.path() + "/profile.jprof").value();
  const SizeLimit limit(5000 + RecordingFile::kReserve);
  const std::string some(4000, 'a');

  ASSERT_TRUE(file.append(some));
  const base::Status refused = file.append(some);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().os_errno, EFBIG);
  EXPECT_NE(refused.error().message.find(file.path()), std::string::npos);
  EXPECT_NE(refused.error().cure.find("ulimit -f"), std::string::npos);
  EXPECT_EQ(file.bytes(), some.size());
  EXPECT_EQ(std::filesystem::file_size(file.path()), some.size());
  const std::string end(2000, 'e');
  ASSERT_TRUE(file.append(end)); // of the reserve
  ASSERT_TRUE(file.sync());
  EXPECT_EQ(base::read_file(file.path(), 10'000).value(), some + end);
  EXPECT_EQ(file.sha256_hex(), base::sha256_hex(some + end));
}

TEST(RecordingFile, GivesItsReserveBack) {
  const jprof::testing::TempDir folder;
  RecordingFile file = RecordingFile::create(folder.path() + "/profile.jprof").value();
  ASSERT_TRUE(file.append("short"));
  ASSERT_TRUE(file.sync());

  struct stat info {};
  ASSERT_EQ(::stat(file.path().c_str(), &info), 0);
  constexpr blkcnt_t kPage = 4096;
  EXPECT_LE(info.st_blocks * 512, kPage);
}

} // namespace
} // namespace jprof::record
