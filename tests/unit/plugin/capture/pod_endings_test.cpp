// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/pod_endings.h"

#include <gtest/gtest.h>

namespace jprof::plugin {
namespace {

using kube::Container;

kube::Pod pod_of(std::vector<std::string> names) {
  kube::Pod pod;
  pod.uid = "u1";
  pod.phase = "Running";
  for (std::string& name : names) {
    Container one;
    one.kind = name.starts_with("jprof-") ? Container::Kind::kEphemeral : Container::Kind::kApp;
    one.name = std::move(name);
    one.state = Container::State::kRunning;
    pod.containers.push_back(std::move(one));
  }
  return pod;
}

TEST(PodEndings, NamesTheJvmsContainerWhetherItWasStartedAgainOrNot) {
  const kube::Pod before = pod_of({"app", "proxy", "jprof-a"});
  kube::Pod now = before;
  now.containers[0].restarts = 1;
  now.containers[0].ending = {"OOMKilled", 137};
  now.containers[1].state = Container::State::kTerminated;

  const auto found = endings_between(before, now, {"app", "jprof-a"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].container, "app");
  EXPECT_EQ(found[0].ending.exit_code, 137);
  EXPECT_EQ(endings_between(before, now, {"", "jprof-a"}).size(), 2U);
  EXPECT_TRUE(endings_between(now, now, {"", "jprof-a"}).empty());
}

TEST(PodEndings, KnowsAPodThatIsGone) {
  const kube::Pod before = pod_of({"app"});
  kube::Pod now = before;
  now.phase = "Failed";
  now.phase_reason = "Evicted";
  EXPECT_EQ(endings_between(before, now, {"app", ""}).at(0).ending.reason, "Evicted");
  now = before;
  now.uid = "u2";
  EXPECT_EQ(endings_between(before, now, {"app", ""}).size(), 1U);
}

TEST(PodEndings, MakesADeadJvmNoBugOfOurs) {
  const EndingQuestion question{"app", "jprof-a"};
  const base::Error error =
      with_endings(base::make_error(base::ErrorCode::kInternal, "the recorder ended", "report it"),
                   {{"app", {"OOMKilled", 137}}}, question);
  EXPECT_EQ(error.code, base::ErrorCode::kTargetGone);
  EXPECT_EQ(error.message,
            "the recorder ended; container app ended in the meantime: OOMKilled (exit code 137)");
  EXPECT_NE(error.cure.find("memory limit"), std::string::npos);

  // Our own container's end is not the JVM's.
  const base::Error ours = with_endings(base::make_error(base::ErrorCode::kInternal, "x"),
                                        {{"jprof-a", {"OOMKilled", 137}}}, question);
  EXPECT_EQ(ours.code, base::ErrorCode::kInternal);
  EXPECT_NE(ours.message.find("jprof's container jprof-a ended in the meantime"),
            std::string::npos);

  const base::Error none =
      with_endings(base::make_error(base::ErrorCode::kInternal, "x", "y"), {}, question);
  EXPECT_EQ(none.message, "x");
  EXPECT_EQ(none.cure, "y");
}

} // namespace
} // namespace jprof::plugin
