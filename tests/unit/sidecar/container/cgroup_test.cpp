// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/cgroup.h"

#include <gtest/gtest.h>

#include <string>

namespace jprof::container {
namespace {

constexpr char kId[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
constexpr char kUid[] = "2f1e6b3a-9c84-4d57-8a10-6be8f3c0d9e7";
constexpr char kUidUnderscores[] = "2f1e6b3a_9c84_4d57_8a10_6be8f3c0d9e7";

struct Case {
  const char* name;
  std::string text;
  const char* container;
  const char* pod;
};

const Case kCases[] = {
    {"Version1Cgroupfs",
     std::string("12:pids:/kubepods/burstable/pod") + kUid + "/" + kId +
         "\n11:memory:/kubepods/burstable/pod" + kUid + "/" + kId +
         "\n1:name=systemd:/kubepods/burstable/pod" + kUid + "/" + kId + "\n",
     kId, kUid},
    {"Version2Systemd",
     std::string("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod") +
         kUidUnderscores + ".slice/cri-containerd-" + kId + ".scope\n",
     kId, kUid},
    {"Version2Guaranteed",
     std::string("0::/kubepods.slice/kubepods-pod") + kUidUnderscores + ".slice/crio-" + kId +
         ".scope\n",
     kId, kUid},
    {"ContainerdInSystemdSlice",
     std::string("0::/system.slice/containerd.service/kubepods-besteffort-pod") + kUidUnderscores +
         ".slice:cri-containerd:" + kId + "\n",
     kId, kUid},
    {"Docker", std::string("0::/system.slice/docker-") + kId + ".scope\n", kId, ""},
    {"OtherCgroupNamespace", std::string("0::/../") + kId + "\n", kId, ""},
    {"OtherCgroupNamespaceScope", std::string("0::/../cri-containerd-") + kId + ".scope\n", kId,
     ""},
    {"StaticPod",
     std::string("0::/kubepods/besteffort/pod0123456789abcdef0123456789abcdef/") + kId + "\n", kId,
     "0123456789abcdef0123456789abcdef"},
    {"Host", "0::/user.slice/user-1000.slice/session-3.scope\n", "", ""},
    {"HostVersion1", "4:memory:/\n1:name=systemd:/init.scope\n", "", ""},
    {"NotHex", "0::/docker/" + std::string(64, 'g') + "\n", "", ""},
};

class Cgroup : public ::testing::TestWithParam<Case> {};

TEST_P(Cgroup, NamesContainerAndPod) {
  const ContainerIds ids = parse_cgroup(GetParam().text);

  EXPECT_EQ(ids.container_id, GetParam().container);
  EXPECT_EQ(ids.pod_uid, GetParam().pod);
}

INSTANTIATE_TEST_SUITE_P(Layouts, Cgroup, ::testing::ValuesIn(kCases),
                         [](const auto& layout) { return layout.param.name; });

TEST(Mountinfo, GivesThePodThatACgroupNamespaceHides) {
  ContainerIds ids;
  const std::string text = std::string("1 0 0:50 / / rw,relatime - overlay overlay rw\n"
                                       "812 790 254:1 /var/lib/kubelet/pods/") +
                           kUid + "/etc-hosts /etc/hosts rw,relatime - ext4 /dev/vda1 rw\n";

  complete_from_mountinfo(text, ids);

  EXPECT_EQ(ids.pod_uid, kUid);
  EXPECT_EQ(ids.container_id, "");
}

TEST(Mountinfo, DoesNotReplaceWhatTheCgroupSaid) {
  ContainerIds ids{kId, "known"};

  complete_from_mountinfo(std::string("1 1 1:1 /pods/") + kUid + "/x /x rw - x x x\n", ids);

  EXPECT_EQ(ids.pod_uid, "known");
}

} // namespace
} // namespace jprof::container
