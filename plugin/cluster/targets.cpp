// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/cluster/targets.h"

#include "lib/base/digest.h"
#include "lib/base/encoding.h"

#include <algorithm>
#include <array>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;

struct Spelling {
  std::string_view word;
  std::string_view resource;
};

constexpr std::array<Spelling, 18> kSpellings{{{"pod", "pods"},
                                               {"pods", "pods"},
                                               {"po", "pods"},
                                               {"deploy", "deployments"},
                                               {"deployment", "deployments"},
                                               {"deployments", "deployments"},
                                               {"sts", "statefulsets"},
                                               {"statefulset", "statefulsets"},
                                               {"statefulsets", "statefulsets"},
                                               {"ds", "daemonsets"},
                                               {"daemonset", "daemonsets"},
                                               {"daemonsets", "daemonsets"},
                                               {"rs", "replicasets"},
                                               {"replicaset", "replicasets"},
                                               {"replicasets", "replicasets"},
                                               {"job", "jobs"},
                                               {"jobs", "jobs"},
                                               {"deployments.apps", "deployments"}}};

// The K of N that this seed selects; a retry of the same scheduled run selects the same ones.
void choose(std::vector<kube::Pod>& pods, std::size_t most, const std::string& seed) {
  const auto rank = [&seed](const kube::Pod& pod) {
    // Pods with the sidecar first, otherwise at random.
    return std::make_pair(!kube::find_sidecar(pod).has_value(),
                          base::sha256_hex(seed + "\n" + pod.uid));
  };
  std::sort(pods.begin(), pods.end(),
            [&rank](const kube::Pod& a, const kube::Pod& b) { return rank(a) < rank(b); });
  if (pods.size() > most) {
    pods.erase(pods.begin() + static_cast<std::ptrdiff_t>(most), pods.end());
  }
}

} // namespace

bool can_be_profiled(const kube::Pod& pod) {
  return pod.phase == "Running" && !pod.terminating && pod.os != "windows";
}

Result<TargetName> parse_target_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return TargetName{"pods", std::string(text)};
  }
  const std::string_view type = text.substr(0, slash);
  for (const Spelling& spelling : kSpellings) {
    if (spelling.word == type) {
      return TargetName{std::string(spelling.resource), std::string(text.substr(slash + 1))};
    }
  }
  return base::make_failure(ErrorCode::kUsage, "cannot profile a " + base::printable(type),
                            "POD, pod/NAME, deploy/NAME, sts/NAME, ds/NAME, rs/NAME, job/NAME, or "
                            "-l SELECTOR");
}

Result<std::vector<kube::Pod>> pods_of(kube::KubeClient& client, const std::string& target,
                                       const std::string& selector) {
  const std::string& space = client.access().namespace_name;
  if (target.empty()) {
    return client.list_pods(space, selector);
  }
  JPROF_TRY_ASSIGN(const TargetName name, parse_target_name(target));
  if (name.is_pod()) {
    JPROF_TRY_ASSIGN(kube::Pod pod, client.get_pod(space, name.name));
    return std::vector<kube::Pod>{std::move(pod)};
  }
  JPROF_TRY_ASSIGN(const std::string own, client.selector_of(space, name.kind, name.name));
  return client.list_pods(space, own);
}

Result<Targets> find_targets(kube::KubeClient& client, const TargetChoice& choice) {
  const std::string& space = client.access().namespace_name;
  JPROF_TRY_ASSIGN(std::vector<kube::Pod> pods, pods_of(client, choice.target, choice.selector));
  if (!choice.target.empty() && parse_target_name(choice.target)->is_pod()) {
    JPROF_TRY(kube::check_pod(pods.front()));
    return Targets{std::move(pods), 1};
  }
  const std::string shown = choice.target.empty() ? "-l " + base::printable(choice.selector)
                                                  : base::printable(choice.target);
  const std::size_t all = pods.size();
  std::erase_if(pods, [](const kube::Pod& pod) { return !can_be_profiled(pod); });
  if (pods.empty()) {
    return base::make_failure(
        ErrorCode::kTargetNotFound, "no running pod of " + shown + " in namespace " + space,
        all == 0 ? "nothing matches; is it the right namespace (-n)?"
                 : std::to_string(all) + " match, but none of them is running");
  }
  Targets out;
  out.matching = pods.size();
  choose(pods, choice.max_pods, choice.seed);
  out.pods = std::move(pods);
  return out;
}

} // namespace jprof::plugin
