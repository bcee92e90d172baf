// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/ephemeral_container.h"

namespace jprof::kube {
namespace {

using base::Json;

// The container's writable layer counts as ephemeral storage of the pod, beyond whose limit the
// kubelet evicts it: captures of a container that lives for minutes need little.
constexpr const char* kSpoolQuota = "64Mi";

Json security_context(const EphemeralContainer& container) {
  const bool root = container.ids.uid == 0;
  Json out = {{"allowPrivilegeEscalation", false},
              {"runAsNonRoot", !root},
              {"capabilities", {{"drop", Json::array({"ALL"})}}},
              {"seccompProfile", {{"type", "RuntimeDefault"}}}};
  if (!container.capability.empty()) {
    out["capabilities"]["add"] = Json::array({container.capability});
  }
  // Both: the kernel compares user and group, and an image brings a group of its own.
  if (container.ids.uid) {
    out["runAsUser"] = *container.ids.uid;
  }
  if (container.ids.gid) {
    out["runAsGroup"] = *container.ids.gid;
  }
  return out;
}

} // namespace

Json ephemeral_patch(const Pod& pod, const EphemeralContainer& container) {
  Json one = {{"name", container.name},
              {"image", container.image},
              {"imagePullPolicy", container.pull_policy},
              {"command", Json::array({"/jprof", "serve", "--idle-exit", container.idle_exit})},
              {"env", Json::array({{{"name", "JPROF_SPOOL_QUOTA"}, {"value", kSpoolQuota}}})},
              {"securityContext", security_context(container)},
              {"terminationMessagePolicy", "FallbackToLogsOnError"}};
  if (!container.target.empty()) {
    one["targetContainerName"] = container.target;
  }
  return {{"metadata", {{"uid", pod.uid}}},
          {"spec", {{"ephemeralContainers", Json::array({one})}}}};
}

} // namespace jprof::kube
