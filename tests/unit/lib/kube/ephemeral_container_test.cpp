// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/ephemeral_container.h"

#include <gtest/gtest.h>

namespace jprof::kube {
namespace {

using base::Json;

EphemeralContainer one() {
  EphemeralContainer out;
  out.name = "jprof-abc";
  out.image = "registry.example/jprof:1";
  out.target = "app";
  out.ids = {1000, 0};
  return out;
}

Json container_of(const EphemeralContainer& container) {
  Pod pod;
  pod.uid = "u1";
  return ephemeral_patch(pod, container)["spec"]["ephemeralContainers"][0];
}

TEST(EphemeralContainer, IsBoundToThisPod) {
  Pod pod;
  pod.uid = "u1";

  EXPECT_EQ(ephemeral_patch(pod, one())["metadata"]["uid"], "u1");
}

TEST(EphemeralContainer, IsWhatRestrictedAllows) {
  const Json container = container_of(one());

  EXPECT_EQ(container["securityContext"],
            Json::parse(R"({"allowPrivilegeEscalation":false,"runAsNonRoot":true,
              "capabilities":{"drop":["ALL"]},"seccompProfile":{"type":"RuntimeDefault"},
              "runAsUser":1000,"runAsGroup":0})"));
  EXPECT_EQ(container["command"], Json::parse(R"(["/jprof","serve","--idle-exit","10m"])"));
  EXPECT_EQ(container["targetContainerName"], "app");
  EXPECT_FALSE(container.contains("resources")); // the API refuses them
}

TEST(EphemeralContainer, LeavesTheUserToTheImageWhereNoneIsKnown) {
  EphemeralContainer probe = one();
  probe.ids = {};

  const Json security = container_of(probe)["securityContext"];

  EXPECT_FALSE(security.contains("runAsUser"));
  EXPECT_FALSE(security.contains("runAsGroup"));
  EXPECT_EQ(security["runAsNonRoot"], true);
}

TEST(EphemeralContainer, AsksForMoreOnlyWhereItWasTold) {
  EphemeralContainer more = one();
  more.ids = {0, 0};
  more.capability = "SYS_PTRACE";

  const Json security = container_of(more)["securityContext"];

  EXPECT_EQ(security["runAsNonRoot"], false);
  EXPECT_EQ(security["capabilities"], Json::parse(R"({"drop":["ALL"],"add":["SYS_PTRACE"]})"));
}

} // namespace
} // namespace jprof::kube
