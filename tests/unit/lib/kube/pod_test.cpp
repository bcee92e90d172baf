// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/pod.h"

#include <gtest/gtest.h>

namespace jprof::kube {
namespace {

using base::ErrorCode;
using base::Json;

Json pod_json() {
  return Json::parse(R"({
    "metadata": {"name": "checkout-5d9-x", "namespace": "shop", "uid": "u1",
      "labels": {"pod-template-hash": "5d9"},
      "ownerReferences": [{"kind": "ReplicaSet", "name": "checkout-5d9", "controller": true}]},
    "spec": {"nodeName": "n1", "shareProcessNamespace": true,
      "initContainers": [{"name": "setup", "image": "i"},
                         {"name": "jprof", "image": "j", "restartPolicy": "Always"}],
      "containers": [{"name": "app", "image": "a:1"}]},
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
      "initContainerStatuses": [{"name": "jprof", "state": {"running": {}}},
                                {"name": "setup", "state": {"terminated": {"reason": "Completed"}}}],
      "containerStatuses": [{"name": "app", "imageID": "a@sha256:1",
                             "containerID": "containerd://abc", "state": {"running": {}}}]}})");
}

Pod parse(const Json& object) {
  const auto pod = parse_pod(object);
  EXPECT_TRUE(pod.has_value());
  return pod ? *pod : Pod{};
}

TEST(Pod, FindsTheDeploymentBehindAReplicaSet) {
  const Pod pod = parse(pod_json());

  EXPECT_EQ(pod.workload_kind, "Deployment");
  EXPECT_EQ(pod.workload, "checkout");
  EXPECT_EQ(pod.node, "n1");
  EXPECT_TRUE(pod.ready);
}

TEST(Pod, KnowsWhatItsContainersMayTakeTogether) {
  const auto limit = [](const char* memory) { return Json{{"limits", {{"memory", memory}}}}; };
  Json object = pod_json();
  object["spec"]["containers"][0]["resources"] = limit("33Mi");
  EXPECT_EQ(parse(object).memory_limit, std::nullopt); // the others have none

  object["spec"]["initContainers"][0]["resources"] = limit("10Mi");
  object["spec"]["initContainers"][1]["resources"] = limit("128Mi");
  EXPECT_EQ(parse(object).memory_limit, std::uint64_t{161} << 20U);
  object["spec"]["initContainers"][0]["resources"] = limit("1Gi"); // ran before them
  EXPECT_EQ(parse(object).memory_limit, std::uint64_t{1} << 30U);
  object["spec"]["resources"] = limit("200Mi"); // the pod's own
  EXPECT_EQ(parse(object).memory_limit, std::uint64_t{200} << 20U);
  object["spec"]["ephemeralContainers"] = Json::array({{{"name", "jprof-a"}}});
  EXPECT_EQ(parse(object).memory_limit, std::uint64_t{200} << 20U);
}

TEST(Pod, KnowsHowAContainerEnded) {
  Json object = pod_json();
  Json& status = object["status"]["containerStatuses"][0];
  EXPECT_EQ(parse(object).find("app")->ending, std::nullopt);

  status["restartCount"] = 1;
  status["lastState"] = {{"terminated", {{"reason", "OOMKilled"}, {"exitCode", 137}}}};
  const Pod pod = parse(object);
  EXPECT_EQ(pod.find("app")->restarts, 1);
  EXPECT_EQ(pod.find("app")->ending->reason, "OOMKilled");
  EXPECT_EQ(pod.find("app")->ending->exit_code, 137);

  status["state"] = {{"terminated", {{"reason", "Error"}, {"exitCode", 1}}}};
  EXPECT_EQ(parse(object).find("app")->ending->reason, "Error");
}

TEST(Pod, LeavesABareReplicaSetWhatItIs) {
  Json object = pod_json();
  object["metadata"].erase("labels");

  EXPECT_EQ(parse(object).workload_kind, "ReplicaSet");
}

TEST(Pod, KnowsAsWhomAContainerRuns) {
  Json object = pod_json();
  object["spec"]["securityContext"] = {{"runAsUser", 1000}, {"runAsGroup", 1000}};
  object["spec"]["containers"][0]["securityContext"] = {{"runAsUser", 2000}};
  Pod pod = parse(object);
  EXPECT_EQ(ids_of(pod, *pod.find("app")).uid, 2000);
  EXPECT_EQ(ids_of(pod, *pod.find("app")).gid, 1000);

  object = pod_json();
  object["status"]["containerStatuses"][0]["user"] = {{"linux", {{"uid", 65532}, {"gid", 0}}}};
  pod = parse(object);
  EXPECT_EQ(ids_of(pod, *pod.find("app")).uid, 65532);
  EXPECT_EQ(ids_of(pod, *pod.find("app")).gid, 0);
  EXPECT_FALSE(ids_of(pod, *pod.find("setup")).uid.has_value());
}

TEST(Pod, TakesTheContainerThatTheAnnotationNames) {
  Json object = pod_json();
  object["spec"]["containers"].push_back({{"name", "proxy"}, {"image", "p"}});
  EXPECT_EQ(*find_target(parse(object), ""), nullptr);

  object["metadata"]["annotations"] = {{"kubectl.kubernetes.io/default-container", "app"}};
  const Pod pod = parse(object);
  EXPECT_EQ((*find_target(pod, ""))->name, "app");
}

TEST(Pod, KnowsWhatTheRuntimeCallsAContainer) {
  Container container;
  EXPECT_EQ(runtime_id(container), "");
  container.container_id = "cri-o://0123";
  EXPECT_EQ(runtime_id(container), "0123");
}

TEST(Pod, FindsANativeSidecar) {
  const Pod pod = parse(pod_json());

  const auto sidecar = find_sidecar(pod);

  ASSERT_TRUE(sidecar.has_value());
  EXPECT_EQ((*sidecar)->kind, Container::Kind::kSidecar);
}

TEST(Pod, TakesARunningEphemeralContainerOfOurs) {
  Json object = pod_json();
  object["spec"]["initContainers"] = Json::array();
  object["spec"]["ephemeralContainers"] = {{{"name", "jprof-abcdefgh"}}, {{"name", "debugger"}}};
  object["status"]["ephemeralContainerStatuses"] = {
      {{"name", "jprof-abcdefgh"}, {"state", {{"running", Json::object()}}}}};

  const Pod pod = parse(object);

  const auto sidecar = find_sidecar(pod);
  ASSERT_TRUE(sidecar.has_value());
  EXPECT_EQ((*sidecar)->name, "jprof-abcdefgh");
}

TEST(Pod, SaysWhyThereIsNoSidecar) {
  Json object = pod_json();
  object["spec"]["initContainers"] = Json::array();
  const auto none = find_sidecar(parse(object));
  EXPECT_EQ(none.error().code, ErrorCode::kNoSidecar);
  EXPECT_NE(none.error().cure.find("charts/jprof-sidecar"), std::string::npos);

  object = pod_json();
  object["status"]["initContainerStatuses"][0]["state"] = {
      {"waiting", {{"reason", "ImagePullBackOff"}, {"message", "no\x1b image"}}}};
  const auto waiting = find_sidecar(parse(object));
  EXPECT_NE(waiting.error().message.find("is waiting: ImagePullBackOff: no\\x1b image"),
            std::string::npos)
      << waiting.error().message;
}

TEST(Pod, NamesTheContainersWhereTheWantedOneIsNot) {
  const Pod pod = parse(pod_json());

  const auto wrong = find_target(pod, "nope");

  EXPECT_EQ(wrong.error().code, ErrorCode::kTargetNotFound);
  EXPECT_EQ(wrong.error().cure, "its containers: app");
  EXPECT_FALSE(find_target(pod, "jprof").has_value());
  EXPECT_EQ((*find_target(pod, "app"))->image_id, "a@sha256:1");
}

TEST(Pod, ChoosesTheOnlyApplicationContainerByItself) {
  Json object = pod_json();
  EXPECT_EQ((*find_target(parse(object), ""))->name, "app");

  object["spec"]["containers"].push_back({{"name", "second"}});
  EXPECT_EQ(*find_target(parse(object), ""), nullptr);
}

TEST(Pod, SaysWhyNothingRunsInItYet) {
  Json object = pod_json();
  object["status"]["containerStatuses"][0]["state"] = {
      {"waiting", {{"reason", "CrashLoopBackOff"}, {"message", "back-off 10s"}}}};
  const auto waiting = find_target(parse(object), "");
  ASSERT_FALSE(waiting.has_value());
  EXPECT_EQ(waiting.error().code, ErrorCode::kTargetNotFound);
  EXPECT_NE(waiting.error().message.find("CrashLoopBackOff: back-off 10s"), std::string::npos);

  object["status"]["containerStatuses"][0]["state"] = {{"terminated", {{"reason", "OOMKilled"}}}};
  EXPECT_EQ(find_target(parse(object), "").error().code, ErrorCode::kTargetGone);

  object["status"] = {{"phase", "Pending"},
                      {"conditions",
                       {{{"type", "PodScheduled"},
                         {"status", "False"},
                         {"reason", "Unschedulable"},
                         {"message", "0/1 nodes are available"}}}}};
  const auto nowhere = find_target(parse(object), "");
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_NE(nowhere.error().message.find("has no node: 0/1 nodes"), std::string::npos);
}

TEST(Pod, RefusesPodsThatHaveEnded) {
  Json object = pod_json();
  object["status"]["phase"] = "Succeeded";
  EXPECT_EQ(check_pod(parse(object)).error().code, ErrorCode::kTargetGone);

  object = pod_json();
  object["spec"]["os"] = {{"name", "windows"}};
  EXPECT_EQ(check_pod(parse(object)).error().code, ErrorCode::kJvmUnsupported);
}

TEST(Pod, SurvivesAnyShapeOfJson) {
  for (const char* text :
       {"[]", "3", "{}", R"({"metadata":[]})",
        R"({"metadata":{"name":"a","namespace":"b","ownerReferences":3},)"
        R"("spec":{"containers":{"a":1},"initContainers":[1,null]},"status":"x"})"}) {
    static_cast<void>(parse_pod(Json::parse(text)));
  }
}

} // namespace
} // namespace jprof::kube
