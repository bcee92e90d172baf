// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/cluster/targets.h"

#include <gtest/gtest.h>

#include <set>

namespace jprof::plugin {
namespace {

using base::ErrorCode;

kube::Pod make_pod(const std::string& name, const std::string& phase = "Running") {
  kube::Pod pod;
  pod.name = name;
  pod.namespace_name = "shop";
  pod.uid = "uid-" + name;
  pod.phase = phase;
  kube::Container jprof;
  jprof.name = "jprof";
  jprof.state = kube::Container::State::kRunning;
  pod.containers = {jprof};
  return pod;
}

// A cluster that knows these pods.
class FixedClient final : public kube::KubeClient {
 public:
  explicit FixedClient(std::vector<kube::Pod> pods) : pods_(std::move(pods)) {
    access_.namespace_name = "shop";
  }
  base::Result<kube::Pod> get_pod(const std::string&, const std::string& name) override {
    for (const kube::Pod& pod : pods_) {
      if (pod.name == name) {
        return pod;
      }
    }
    return base::make_failure(ErrorCode::kTargetNotFound, "not found");
  }
  base::Result<std::vector<kube::Pod>> list_pods(const std::string&,
                                                 const std::string& selector) override {
    selector_ = selector;
    return pods_;
  }
  base::Result<std::string> selector_of(const std::string&, const std::string& resource,
                                        const std::string& name) override {
    return resource + "=" + name;
  }
  base::Result<bool> may(const std::string&, const std::string&, const std::string&,
                         const std::string&) override {
    return true;
  }
  base::Result<kube::MemoryUse> memory_use(const std::string&, const std::string&) override {
    return base::make_failure(ErrorCode::kTargetNotFound, "not measured");
  }
  base::Result<bool> node_lacks_memory(const std::string&) override { return false; }
  base::Status add_ephemeral_container(const kube::Pod&, const kube::EphemeralContainer&,
                                       kube::PatchMode) override {
    return {};
  }
  base::Result<std::unique_ptr<kube::ExecStream>> exec(const kube::ExecTarget&, int) override {
    return base::make_failure(ErrorCode::kInternal, "nothing to exec in");
  }
  const kube::ClusterAccess& access() const override { return access_; }

  std::string selector_;

 private:
  std::vector<kube::Pod> pods_;
  kube::ClusterAccess access_;
};

TEST(TargetName, ReadsKubectlsSpellings) {
  EXPECT_EQ(parse_target_name("checkout")->kind, "pods");
  EXPECT_EQ(parse_target_name("pod/x")->name, "x");
  EXPECT_EQ(parse_target_name("deploy/x")->kind, "deployments");
  EXPECT_EQ(parse_target_name("statefulset/x")->kind, "statefulsets");
  EXPECT_EQ(parse_target_name("svc/x").error().code, ErrorCode::kUsage);
}

TEST(Targets, LooksUpTheSelectorOfAWorkload) {
  FixedClient client({make_pod("a")});

  const auto targets = find_targets(
      client, {.target = "deploy/checkout", .selector = {}, .max_pods = 1, .seed = {}});

  ASSERT_TRUE(targets.has_value());
  EXPECT_EQ(client.selector_, "deployments=checkout");
}

TEST(Targets, TakesOnlyPodsThatCanBeProfiled) {
  kube::Pod leaving = make_pod("leaving");
  leaving.terminating = true;
  FixedClient client({make_pod("a"), make_pod("b", "Pending"), leaving});

  const auto targets =
      find_targets(client, {.target = {}, .selector = "app=x", .max_pods = 9, .seed = {}});

  ASSERT_TRUE(targets.has_value());
  ASSERT_EQ(targets->pods.size(), 1U);
  EXPECT_EQ(targets->pods[0].name, "a");
}

TEST(Targets, ChoosesTheSamePodsForTheSameRunAndOthersForOthers) {
  std::vector<kube::Pod> pods;
  for (int i = 0; i < 20; ++i) {
    pods.push_back(make_pod("p" + std::to_string(i)));
  }
  FixedClient client(pods);
  std::set<std::string> seen;
  for (int run = 0; run < 40; ++run) {
    const TargetChoice choice{
        .target = {}, .selector = "app=x", .max_pods = 1, .seed = std::to_string(run)};
    const auto once = find_targets(client, choice);
    const auto again = find_targets(client, choice);
    EXPECT_EQ(once->pods[0].name, again->pods[0].name);
    EXPECT_EQ(once->matching, 20U);
    seen.insert(once->pods[0].name);
  }
  EXPECT_GT(seen.size(), 10U);
}

TEST(Targets, PrefersPodsWithASidecar) {
  kube::Pod bare = make_pod("bare");
  bare.containers.clear();
  FixedClient client({bare, make_pod("ready")});

  for (int run = 0; run < 10; ++run) {
    const auto targets = find_targets(
        client, {.target = {}, .selector = "app=x", .max_pods = 1, .seed = std::to_string(run)});
    EXPECT_EQ(targets->pods[0].name, "ready");
  }
}

TEST(Targets, SaysWhetherNothingMatchesOrNothingRuns) {
  FixedClient empty({});
  FixedClient pending({make_pod("a", "Pending")});
  const TargetChoice choice{.target = {}, .selector = "app=x", .max_pods = 1, .seed = {}};

  EXPECT_NE(find_targets(empty, choice).error().cure.find("nothing matches"), std::string::npos);
  EXPECT_NE(find_targets(pending, choice).error().cure.find("none of them is running"),
            std::string::npos);
}

} // namespace
} // namespace jprof::plugin
