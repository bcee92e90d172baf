// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/kube/kube_client.h"
#include "lib/kube/pod.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::plugin {

// What a command line names: POD, TYPE/NAME, or only a selector.
struct TargetName {
  std::string kind; // "pods", "deployments", ...: the resource in the API
  std::string name;

  bool is_pod() const { return kind == "pods"; }
};

// "x" and "pod/x" are a pod; deploy/x, sts/x, ds/x, rs/x and job/x are workloads, in kubectl's
// spellings. kUsage for other types.
base::Result<TargetName> parse_target_name(std::string_view text);

struct TargetChoice {
  std::string target;   // may be empty, then
  std::string selector; // must not be
  std::size_t max_pods = 1;
  std::string seed; // which K of N: the same seed takes the same pods
};

struct Targets {
  std::vector<kube::Pod> pods; // at most max_pods
  std::size_t matching = 0;    // running pods that matched
};

// It runs, is not about to end, and does not run Windows.
bool can_be_profiled(const kube::Pod& pod);

// Every pod that a target (see above) or, if it is empty, a selector matches, in whatever state.
base::Result<std::vector<kube::Pod>> pods_of(kube::KubeClient& client, const std::string& target,
                                             const std::string& selector);

// Pods to profile. If there are several, those that are running and not about to end, in an order
// that depends only on the seed. kTargetNotFound if there is none.
base::Result<Targets> find_targets(kube::KubeClient& client, const TargetChoice& choice);

} // namespace jprof::plugin
