// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/kube/cluster_access.h"
#include "lib/kube/ephemeral_container.h"
#include "lib/kube/exec_stream.h"
#include "lib/kube/pod.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::kube {

// Bytes by container.
using MemoryUse = std::map<std::string, std::uint64_t>;

struct ExecTarget {
  std::string namespace_name;
  std::string pod;
  std::string container;
  std::vector<std::string> command;
};

// kVerdictOnly: the server checks everything, admission policies included, and changes nothing.
enum class PatchMode { kApply, kVerdictOnly };

// The few calls of the Kubernetes API that jprof needs, each with the least rights. Errors carry
// the server's words, the exit code of their kind and, for a refusal, the role that is missing;
// kUnavailable if the cluster cannot be reached. One thread at a time.
class KubeClient {
 public:
  virtual ~KubeClient() = default;

  // GET pods/NAME: verb get on pods.
  virtual base::Result<Pod> get_pod(const std::string& namespace_name, const std::string& name) = 0;
  // Pods that match a label selector ("" matches all): verb list on pods.
  virtual base::Result<std::vector<Pod>> list_pods(const std::string& namespace_name,
                                                   const std::string& selector) = 0;
  // The label selector of a workload ("deployments", "statefulsets", "daemonsets", "replicasets" of
  // apps/v1, "jobs" of batch/v1) as text for list_pods: verb get on that resource.
  virtual base::Result<std::string> selector_of(const std::string& namespace_name,
                                                const std::string& resource,
                                                const std::string& name) = 0;
  // Whether we may do this (SelfSubjectAccessReview, which every authenticated user may ask).
  virtual base::Result<bool> may(const std::string& namespace_name, const std::string& verb,
                                 const std::string& resource, const std::string& subresource) = 0;
  // What the containers of a pod currently use, as far as the cluster measures it (metrics.k8s.io):
  // verb get on pods of that group. Also an error if the cluster has no such API.
  virtual base::Result<MemoryUse> memory_use(const std::string& namespace_name,
                                             const std::string& pod) = 0;
  // The node reports that it is running out of memory: verb get on nodes.
  virtual base::Result<bool> node_lacks_memory(const std::string& node) = 0;
  // Adds one to a running pod: verb patch on pods/ephemeralcontainers.
  virtual base::Status add_ephemeral_container(const Pod& pod, const EphemeralContainer& container,
                                               PatchMode mode) = 0;
  // Runs a command with stdin: verbs get (Kubernetes < 1.35) and create on pods/exec. `wake_fd`
  // readable gives up with kInterrupted.
  virtual base::Result<std::unique_ptr<ExecStream>> exec(const ExecTarget& target, int wake_fd) = 0;

  virtual const ClusterAccess& access() const = 0;
};

// Obtains credentials (may run an exec plugin) and connects at the first call.
base::Result<std::unique_ptr<KubeClient>> make_kube_client(ClusterAccess access);

// A pod or namespace name that is valid in a request's path (RFC 1123, kUsage otherwise): checked
// here so that a typo is distinguished from a pod that does not exist.
base::Status check_name(std::string_view what, std::string_view name);

} // namespace jprof::kube
