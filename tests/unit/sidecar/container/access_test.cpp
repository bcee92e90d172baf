// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/access.h"

#include <gtest/gtest.h>

#include <linux/capability.h>

namespace jprof::container {
namespace {

constexpr std::uint64_t bit(int capability) {
  return std::uint64_t{1} << capability;
}
constexpr std::uint64_t kDefaultRoot = 0xa80425fb; // what container engines give uid 0

ProcessStatus process(uid_t uid, gid_t gid, std::uint64_t capabilities = 0) {
  ProcessStatus status;
  status.real_uid = status.effective_uid = status.saved_uid = uid;
  status.real_gid = status.effective_gid = status.saved_gid = gid;
  status.permitted_capabilities = status.effective_capabilities = capabilities;
  return status;
}

// The rows of a table measured on Linux (ptrace(2), PTRACE_MODE_READ_FSCREDS).
TEST(Access, IsThereForEqualIdsWithoutCapabilities) {
  const Access access = predict_access(process(1001, 1001), process(1001, 1001), 1001);

  EXPECT_EQ(access.barrier, Barrier::kNone);
  EXPECT_TRUE(access.cause.empty());
}

TEST(Access, NeedsTheGroupToo) {
  const Access access = predict_access(process(1001, 1001), process(1001, 1002), 1001);

  EXPECT_EQ(access.barrier, Barrier::kGid);
  EXPECT_NE(access.cure.find("runAsGroup: 1002"), std::string::npos);
}

TEST(Access, NeedsEveryCapabilityOfTheTarget) {
  const Access access =
      predict_access(process(1001, 1001), process(1001, 1001, bit(CAP_NET_BIND_SERVICE)), 1001);

  EXPECT_EQ(access.barrier, Barrier::kCapabilities);
}

TEST(Access, EndsAtANonDumpableTarget) {
  const Access access = predict_access(process(1001, 1001), process(1001, 1001), 0);

  EXPECT_EQ(access.barrier, Barrier::kNotDumpable);
}

TEST(Access, OfRootWithoutCapabilitiesToRootWithThemIsNone) {
  EXPECT_EQ(predict_access(process(0, 0), process(0, 0, kDefaultRoot), 0).barrier,
            Barrier::kCapabilities);
  EXPECT_EQ(predict_access(process(0, 0, kDefaultRoot), process(0, 0, kDefaultRoot), 0).barrier,
            Barrier::kNone);
}

TEST(Access, OfRootToAnotherUserGoesByItsIds) {
  const Access access = predict_access(process(0, 0, kDefaultRoot), process(1001, 1001), 1001);

  EXPECT_EQ(access.barrier, Barrier::kNone);
  EXPECT_TRUE(access.as_target);
}

TEST(Access, OfRootWithoutCapabilitiesToAnotherUserIsNone) {
  EXPECT_EQ(predict_access(process(0, 0), process(1001, 1001), 1001).barrier, Barrier::kUid);
}

TEST(Access, ByPtraceCapabilityIsAlwaysThere) {
  const ProcessStatus ours = process(1001, 1001, bit(CAP_SYS_PTRACE));

  EXPECT_EQ(predict_access(ours, process(0, 0, kDefaultRoot), 0).barrier, Barrier::kNone);
}

TEST(Access, TellsBothUidsAndTheCure) {
  const Access access = predict_access(process(65532, 65532), process(1000, 2000), 1000);

  EXPECT_NE(access.cause.find("1000:2000"), std::string::npos);
  EXPECT_NE(access.cause.find("65532:65532"), std::string::npos);
  EXPECT_NE(access.cure.find("runAsUser: 1000"), std::string::npos);
}

} // namespace
} // namespace jprof::container
