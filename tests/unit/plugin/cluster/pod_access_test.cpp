// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/cluster/pod_access.h"

#include <gtest/gtest.h>

namespace jprof::plugin {
namespace {

using kube::Container;
using Ephemeral = PodAccessOptions::Ephemeral;

Container container(const std::string& name, Container::Kind kind = Container::Kind::kApp) {
  Container out;
  out.name = name;
  out.kind = kind;
  out.state = Container::State::kRunning;
  return out;
}

kube::Pod pod_of(std::vector<Container> containers) {
  kube::Pod pod;
  pod.name = "checkout";
  pod.namespace_name = "shop";
  pod.phase = "Running";
  pod.wanted = {1000, 1000};
  pod.containers = std::move(containers);
  return pod;
}

PodAccessOptions with_image() {
  PodAccessOptions out;
  out.image = "registry.example/jprof:1";
  return out;
}

base::Result<PodAccess> access_to(const kube::Pod& pod,
                                  const PodAccessOptions& options = with_image()) {
  const auto target = kube::find_target(pod, "");
  return find_access(pod, target ? *target : nullptr, options);
}

TEST(PodAccess, TakesTheSidecarFirst) {
  kube::Pod pod = pod_of({container("app"), container("jprof")});
  pod.share_process_namespace = true;

  const auto access = access_to(pod);

  ASSERT_TRUE(access.has_value());
  EXPECT_EQ(access->kind, PodAccess::Kind::kSidecar);
  EXPECT_EQ(access->container, "jprof");
  EXPECT_EQ(announcement(pod, *access), "");
}

TEST(PodAccess, PassesASidecarThatCannotSeeTheJvm) {
  const kube::Pod pod = pod_of({container("app"), container("jprof")});

  const auto access = access_to(pod);

  ASSERT_TRUE(access.has_value());
  EXPECT_EQ(access->kind, PodAccess::Kind::kNew);
  EXPECT_NE(
      explain(pod, *access).find("skipped  sidecar: container jprof is running but cannot see"),
      std::string::npos);
}

TEST(PodAccess, PassesASidecarThatDoesNotRun) {
  kube::Pod pod = pod_of({container("app"), container("jprof")});
  pod.share_process_namespace = true;
  pod.containers[1].state = Container::State::kWaiting;
  pod.containers[1].state_reason = "ImagePullBackOff";

  const auto access = access_to(pod);

  ASSERT_TRUE(access.has_value());
  EXPECT_EQ(access->kind, PodAccess::Kind::kNew);
  EXPECT_NE(access->attempts[0].why.find("ImagePullBackOff"), std::string::npos);
}

TEST(PodAccess, UsesALiveContainerOfOursAgain) {
  kube::Pod pod = pod_of({container("app"), container("jprof-a", Container::Kind::kEphemeral)});
  pod.containers[1].target = "app";
  pod.containers[1].wanted = {1000, 1000};

  const auto access = access_to(pod);

  ASSERT_TRUE(access.has_value());
  EXPECT_EQ(access->kind, PodAccess::Kind::kReuse);
  EXPECT_EQ(access->container, "jprof-a");
}

TEST(PodAccess, DoesNotReuseWhatIsAnotherUserOrSeesAnotherContainer) {
  kube::Pod pod = pod_of({container("app"), container("jprof-a", Container::Kind::kEphemeral),
                          container("jprof-b", Container::Kind::kEphemeral)});
  pod.containers[1].target = "app";
  pod.containers[1].wanted = {2000, 1000};
  pod.containers[2].target = "proxy";
  pod.containers[2].wanted = {1000, 1000};

  EXPECT_EQ(access_to(pod)->kind, PodAccess::Kind::kNew);
}

TEST(PodAccess, KnowsTheWayWhereALiveOneTurnsOutToHaveEnded) {
  kube::Pod pod = pod_of({container("app"), container("jprof-a", Container::Kind::kEphemeral),
                          container("jprof-b", Container::Kind::kEphemeral)});
  for (Container& one : pod.containers) {
    one.target = "app";
    one.wanted = {1000, 1000};
  }

  const auto access = access_to(pod);

  ASSERT_TRUE(access.has_value());
  EXPECT_EQ(access->container, "jprof-a");
  ASSERT_NE(access->if_gone, nullptr);
  EXPECT_EQ(access->if_gone->container, "jprof-b");
  ASSERT_NE(access->if_gone->if_gone, nullptr);
  EXPECT_EQ(access->if_gone->if_gone->kind, PodAccess::Kind::kNew);
  EXPECT_EQ(access->if_gone->if_gone->if_gone, nullptr);
}

TEST(PodAccess, PassesASidecarWithoutTheCapabilityThatIsAskedFor) {
  kube::Pod pod = pod_of({container("app"), container("jprof")});
  pod.share_process_namespace = true;
  PodAccessOptions options = with_image();
  options.capability = "SYS_PTRACE";

  EXPECT_EQ(access_to(pod, options)->kind, PodAccess::Kind::kNew);
  pod.containers[1].capabilities = {"SYS_PTRACE"};
  EXPECT_EQ(access_to(pod, options)->kind, PodAccess::Kind::kSidecar);
}

TEST(PodAccess, AddsNothingWhereHotspotHasNoTmp) {
  kube::Pod pod = pod_of({container("app")});
  pod.containers[0].read_only_root = true;

  EXPECT_EQ(access_to(pod).error().code, base::ErrorCode::kNoPlaceForAgent);
  pod.containers[0].tmp_volume = true;
  EXPECT_EQ(access_to(pod)->kind, PodAccess::Kind::kNew);
}

TEST(PodAccess, AsksForAnImageWhereThatIsAllThatIsMissing) {
  const auto access = access_to(pod_of({container("app")}), {});

  ASSERT_FALSE(access.has_value());
  EXPECT_NE(access.error().cure.find("--image"), std::string::npos);
}

TEST(PodAccess, MakesOneWithTheIdsThatTheApiKnows) {
  kube::Pod pod = pod_of({container("app")});
  pod.containers[0].wanted.uid = 1001;

  const auto access = access_to(pod);

  ASSERT_TRUE(access.has_value());
  ASSERT_TRUE(access->make.has_value());
  EXPECT_FALSE(access->must_probe);
  EXPECT_EQ(access->make->ids.uid, 1001);
  EXPECT_EQ(access->make->ids.gid, 1000);
  EXPECT_EQ(access->make->target, "app");
  EXPECT_EQ(access->make->name.size(), std::string("jprof-12345678").size());
  EXPECT_NE(announcement(pod, *access).find("uid 1001, gid 1000"), std::string::npos);
}

TEST(PodAccess, TakesWhatTheRuntimeReportedWhereTheSpecIsSilent) {
  kube::Pod pod = pod_of({container("app")});
  pod.wanted = {};
  pod.containers[0].running = {65532, 65532};

  EXPECT_EQ(access_to(pod)->make->ids.uid, 65532);
}

TEST(PodAccess, ProbesWhereNobodyKnowsTheGroup) {
  kube::Pod pod = pod_of({container("app")});
  pod.wanted = {1000, {}};

  const auto access = access_to(pod);

  ASSERT_TRUE(access.has_value());
  EXPECT_TRUE(access->must_probe);
  EXPECT_FALSE(access->make->ids.uid.has_value());
  EXPECT_NE(announcement(pod, *access).find("a second one may follow"), std::string::npos);
}

TEST(PodAccess, BelievesTheUserBeforeTheApi) {
  PodAccessOptions options = with_image();
  options.ids = {7, 8};

  const auto access = access_to(pod_of({container("app")}), options);

  EXPECT_EQ(access->make->ids.uid, 7);
  EXPECT_EQ(access->make->ids.gid, 8);
}

TEST(PodAccess, TakesTheFirstOfSeveralContainersAndSaysSo) {
  const kube::Pod pod = pod_of({container("web"), container("batch")});

  const auto access = access_to(pod);

  EXPECT_EQ(access->make->target, "web");
  EXPECT_NE(explain(pod, *access).find("-c names another"), std::string::npos);
}

TEST(PodAccess, NamesEachObstacleWhereNothingIsLeft) {
  PodAccessOptions never = with_image();
  never.ephemeral = Ephemeral::kNever;
  kube::Pod mirror = pod_of({container("app")});
  mirror.mirror = true;
  kube::Pod ending = pod_of({container("app")});
  ending.terminating = true;

  for (const auto& access :
       {access_to(pod_of({container("app")}), never), access_to(mirror), access_to(ending)}) {
    ASSERT_FALSE(access.has_value());
    EXPECT_EQ(access.error().code, base::ErrorCode::kNoSidecar);
    EXPECT_NE(access.error().message.find("no container jprof"), std::string::npos);
    EXPECT_NE(access.error().cure.find("charts/jprof-sidecar"), std::string::npos);
  }
  EXPECT_NE(access_to(mirror).error().message.find("static pod"), std::string::npos);
}

TEST(PodAccess, MakesANewOneWhereItMust) {
  PodAccessOptions always = with_image();
  always.ephemeral = Ephemeral::kAlways;
  kube::Pod pod = pod_of({container("app"), container("jprof")});
  pod.share_process_namespace = true;

  EXPECT_EQ(access_to(pod, always)->kind, PodAccess::Kind::kNew);
}

TEST(PodAccess, GivesTheSecondContainerAFreshName) {
  kube::EphemeralContainer probe;
  probe.name = "jprof-a";
  probe.idle_exit = "30s";

  const auto second = with_ids(probe, {1000, 0});

  ASSERT_TRUE(second.has_value());
  EXPECT_NE(second->name, probe.name);
  EXPECT_EQ(second->ids.gid, 0);
  EXPECT_EQ(second->idle_exit, "10m");
}

} // namespace
} // namespace jprof::plugin
