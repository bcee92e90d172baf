// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/cluster/access_ladder.h"

#include <gtest/gtest.h>

namespace jprof::plugin {
namespace {

using kube::Container;
using Ephemeral = LadderOptions::Ephemeral;

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

LadderOptions with_image() {
  LadderOptions out;
  out.image = "registry.example/jprof:1";
  return out;
}

base::Result<Way> way_into(const kube::Pod& pod, const LadderOptions& options = with_image()) {
  const auto target = kube::find_target(pod, "");
  return find_way(pod, target ? *target : nullptr, options);
}

TEST(AccessLadder, TakesTheSidecarFirst) {
  kube::Pod pod = pod_of({container("app"), container("jprof")});
  pod.share_process_namespace = true;

  const auto way = way_into(pod);

  ASSERT_TRUE(way.has_value());
  EXPECT_EQ(way->kind, Way::Kind::kSidecar);
  EXPECT_EQ(way->container, "jprof");
  EXPECT_EQ(announcement(pod, *way), "");
}

TEST(AccessLadder, PassesASidecarThatCannotSeeTheJvm) {
  const kube::Pod pod = pod_of({container("app"), container("jprof")});

  const auto way = way_into(pod);

  ASSERT_TRUE(way.has_value());
  EXPECT_EQ(way->kind, Way::Kind::kNew);
  EXPECT_NE(explain(pod, *way).find("skipped  sidecar: container jprof runs but cannot see"),
            std::string::npos);
}

TEST(AccessLadder, PassesASidecarThatDoesNotRun) {
  kube::Pod pod = pod_of({container("app"), container("jprof")});
  pod.share_process_namespace = true;
  pod.containers[1].state = Container::State::kWaiting;
  pod.containers[1].state_reason = "ImagePullBackOff";

  const auto way = way_into(pod);

  ASSERT_TRUE(way.has_value());
  EXPECT_EQ(way->kind, Way::Kind::kNew);
  EXPECT_NE(way->rungs[0].why.find("ImagePullBackOff"), std::string::npos);
}

TEST(AccessLadder, UsesALiveContainerOfOursAgain) {
  kube::Pod pod = pod_of({container("app"), container("jprof-a", Container::Kind::kEphemeral)});
  pod.containers[1].target = "app";
  pod.containers[1].wanted = {1000, 1000};

  const auto way = way_into(pod);

  ASSERT_TRUE(way.has_value());
  EXPECT_EQ(way->kind, Way::Kind::kReuse);
  EXPECT_EQ(way->container, "jprof-a");
}

TEST(AccessLadder, DoesNotReuseWhatIsAnotherUserOrSeesAnotherContainer) {
  kube::Pod pod = pod_of({container("app"), container("jprof-a", Container::Kind::kEphemeral),
                          container("jprof-b", Container::Kind::kEphemeral)});
  pod.containers[1].target = "app";
  pod.containers[1].wanted = {2000, 1000};
  pod.containers[2].target = "proxy";
  pod.containers[2].wanted = {1000, 1000};

  EXPECT_EQ(way_into(pod)->kind, Way::Kind::kNew);
}

TEST(AccessLadder, KnowsTheWayWhereALiveOneTurnsOutToHaveEnded) {
  kube::Pod pod = pod_of({container("app"), container("jprof-a", Container::Kind::kEphemeral),
                          container("jprof-b", Container::Kind::kEphemeral)});
  for (Container& one : pod.containers) {
    one.target = "app";
    one.wanted = {1000, 1000};
  }

  const auto way = way_into(pod);

  ASSERT_TRUE(way.has_value());
  EXPECT_EQ(way->container, "jprof-a");
  ASSERT_NE(way->if_gone, nullptr);
  EXPECT_EQ(way->if_gone->container, "jprof-b");
  ASSERT_NE(way->if_gone->if_gone, nullptr);
  EXPECT_EQ(way->if_gone->if_gone->kind, Way::Kind::kNew);
  EXPECT_EQ(way->if_gone->if_gone->if_gone, nullptr);
}

TEST(AccessLadder, PassesASidecarWithoutTheCapabilityThatIsAskedFor) {
  kube::Pod pod = pod_of({container("app"), container("jprof")});
  pod.share_process_namespace = true;
  LadderOptions options = with_image();
  options.capability = "SYS_PTRACE";

  EXPECT_EQ(way_into(pod, options)->kind, Way::Kind::kNew);
  pod.containers[1].capabilities = {"SYS_PTRACE"};
  EXPECT_EQ(way_into(pod, options)->kind, Way::Kind::kSidecar);
}

TEST(AccessLadder, AddsNothingWhereHotspotHasNoTmp) {
  kube::Pod pod = pod_of({container("app")});
  pod.containers[0].read_only_root = true;

  EXPECT_EQ(way_into(pod).error().code, base::ErrorCode::kNoPlaceForAgent);
  pod.containers[0].tmp_volume = true;
  EXPECT_EQ(way_into(pod)->kind, Way::Kind::kNew);
}

TEST(AccessLadder, AsksForAnImageWhereThatIsAllThatIsMissing) {
  const auto way = way_into(pod_of({container("app")}), {});

  ASSERT_FALSE(way.has_value());
  EXPECT_NE(way.error().cure.find("--image"), std::string::npos);
}

TEST(AccessLadder, MakesOneWithTheIdsThatTheApiKnows) {
  kube::Pod pod = pod_of({container("app")});
  pod.containers[0].wanted.uid = 1001;

  const auto way = way_into(pod);

  ASSERT_TRUE(way.has_value());
  ASSERT_TRUE(way->make.has_value());
  EXPECT_FALSE(way->must_probe);
  EXPECT_EQ(way->make->ids.uid, 1001);
  EXPECT_EQ(way->make->ids.gid, 1000);
  EXPECT_EQ(way->make->target, "app");
  EXPECT_EQ(way->make->name.size(), std::string("jprof-12345678").size());
  EXPECT_NE(announcement(pod, *way).find("uid 1001, gid 1000"), std::string::npos);
}

TEST(AccessLadder, TakesWhatTheRuntimeReportedWhereTheSpecIsSilent) {
  kube::Pod pod = pod_of({container("app")});
  pod.wanted = {};
  pod.containers[0].running = {65532, 65532};

  EXPECT_EQ(way_into(pod)->make->ids.uid, 65532);
}

TEST(AccessLadder, ProbesWhereNobodyKnowsTheGroup) {
  kube::Pod pod = pod_of({container("app")});
  pod.wanted = {1000, {}};

  const auto way = way_into(pod);

  ASSERT_TRUE(way.has_value());
  EXPECT_TRUE(way->must_probe);
  EXPECT_FALSE(way->make->ids.uid.has_value());
  EXPECT_NE(announcement(pod, *way).find("a second one may follow"), std::string::npos);
}

TEST(AccessLadder, BelievesTheUserBeforeTheApi) {
  LadderOptions options = with_image();
  options.ids = {7, 8};

  const auto way = way_into(pod_of({container("app")}), options);

  EXPECT_EQ(way->make->ids.uid, 7);
  EXPECT_EQ(way->make->ids.gid, 8);
}

TEST(AccessLadder, TakesTheFirstOfSeveralContainersAndSaysSo) {
  const kube::Pod pod = pod_of({container("web"), container("batch")});

  const auto way = way_into(pod);

  EXPECT_EQ(way->make->target, "web");
  EXPECT_NE(explain(pod, *way).find("-c names another"), std::string::npos);
}

TEST(AccessLadder, NamesEachObstacleWhereNothingIsLeft) {
  LadderOptions never = with_image();
  never.ephemeral = Ephemeral::kNever;
  kube::Pod mirror = pod_of({container("app")});
  mirror.mirror = true;
  kube::Pod ending = pod_of({container("app")});
  ending.terminating = true;

  for (const auto& way :
       {way_into(pod_of({container("app")}), never), way_into(mirror), way_into(ending)}) {
    ASSERT_FALSE(way.has_value());
    EXPECT_EQ(way.error().code, base::ErrorCode::kNoSidecar);
    EXPECT_NE(way.error().message.find("no container jprof"), std::string::npos);
    EXPECT_NE(way.error().cure.find("charts/jprof-sidecar"), std::string::npos);
  }
  EXPECT_NE(way_into(mirror).error().message.find("static pod"), std::string::npos);
}

TEST(AccessLadder, MakesANewOneWhereItMust) {
  LadderOptions always = with_image();
  always.ephemeral = Ephemeral::kAlways;
  kube::Pod pod = pod_of({container("app"), container("jprof")});
  pod.share_process_namespace = true;

  EXPECT_EQ(way_into(pod, always)->kind, Way::Kind::kNew);
}

TEST(AccessLadder, GivesTheSecondContainerAFreshName) {
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
