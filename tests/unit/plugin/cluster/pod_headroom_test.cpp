// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/cluster/pod_headroom.h"

#include <gtest/gtest.h>

namespace jprof::plugin {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

kube::Pod pod_with(std::uint64_t mebibytes) {
  kube::Pod pod;
  pod.name = "checkout";
  pod.namespace_name = "shop";
  pod.node = "node1";
  pod.memory_limit = mebibytes * kMebibyte;
  pod.containers.push_back({});
  pod.containers[0].name = "app";
  pod.containers[0].memory_limit = pod.memory_limit;
  return pod;
}

PodHeadroom used(std::uint64_t mebibytes) {
  PodHeadroom out;
  out.used["app"] = mebibytes * kMebibyte;
  return out;
}

TEST(PodHeadroom, RefusesWithTheFigureAndTheCure) {
  const base::Status status = check_headroom(pod_with(192), used(170));

  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, base::ErrorCode::kLimit);
  EXPECT_NE(status.error().message.find("pod shop/checkout uses 170 MiB of its limit of 192 MiB"),
            std::string::npos)
      << status.error().message;
  EXPECT_NE(status.error().cure.find("raise the memory limit by 10 MiB"), std::string::npos)
      << status.error().cure;
  EXPECT_NE(status.error().cure.find("--force"), std::string::npos);
}

TEST(PodHeadroom, LetsACapturePassWhereThereIsRoom) {
  EXPECT_TRUE(check_headroom(pod_with(192), used(100)).has_value());
  EXPECT_TRUE(check_headroom(pod_with(192), {}).has_value());
  kube::Pod unlimited = pod_with(1);
  unlimited.memory_limit.reset();
  unlimited.containers[0].memory_limit.reset();
  EXPECT_TRUE(check_headroom(unlimited, used(10'000)).has_value());
}

TEST(PodHeadroom, KnowsAPodThatIsTooSmallInAnyCase) {
  const base::Status status = check_headroom(pod_with(33), {});

  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("may use no more than 33 MiB"), std::string::npos);
}

TEST(PodHeadroom, LooksAtTheJvmsContainerToo) {
  kube::Pod pod = pod_with(1000); // another container leaves room
  pod.containers[0].memory_limit = 100 * kMebibyte;

  EXPECT_TRUE(check_headroom(pod, used(90)).has_value());
  const base::Status status = check_headroom(pod, used(98));
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("container app"), std::string::npos);
}

TEST(PodHeadroom, LeavesANodeAloneThatRunsOutOfMemory) {
  PodHeadroom headroom = used(10);
  headroom.node_presses = true;

  const base::Status status = check_headroom(pod_with(1000), headroom);

  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("node1"), std::string::npos);
}

} // namespace
} // namespace jprof::plugin
