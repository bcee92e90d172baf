// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/cluster/pod_headroom.h"

#include "lib/base/encoding.h"
#include "lib/kube/quantity.h"

#include <algorithm>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using kube::mebibytes;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
// serve, session and the recorder with the largest region, 16 MiB: 10 MiB at the usual interval, 25
// MiB at 1 ms with stacks that all differ (docs/design/memory.md). The sidecar limits itself to
// what is left, and checks again, from inside, before it begins.
constexpr std::uint64_t kCaptureNeeds = 32 * kMebibyte;
// The agent's tables and its thread, in the JVM's own container: up to 2 MiB were seen.
constexpr std::uint64_t kAgentNeeds = 4 * kMebibyte;
// The least memory that a JVM is known to run in.
constexpr std::uint64_t kMinJvmBytes = 32 * kMebibyte;

constexpr const char* kOtherwise =
    ", or add the sidecar, which brings memory of its own (charts/jprof-sidecar); --force captures "
    "anyway, and the kernel may then kill the JVM";

std::string shown(const kube::Pod& pod) {
  return "pod " + base::printable(pod.namespace_name) + "/" + base::printable(pod.name);
}

std::uint64_t total(const kube::MemoryUse& used) {
  std::uint64_t out = 0;
  for (const auto& [name, bytes] : used) {
    out += bytes;
  }
  return out;
}

std::uint64_t left_of(std::uint64_t limit, std::uint64_t used) {
  return limit > used ? limit - used : 0;
}

base::Error too_little(const std::string& what, std::uint64_t needed, std::uint64_t left) {
  return base::make_error(ErrorCode::kLimit,
                          what + ", and a capture through an ephemeral container needs up to " +
                              mebibytes(needed) + ": the kernel would end the JVM to make room",
                          "raise the memory limit by " + mebibytes(needed - left + kMebibyte - 1) +
                              kOtherwise);
}

} // namespace

PodHeadroom ask_headroom(kube::KubeClient& client, const kube::Pod& pod) {
  PodHeadroom out;
  if (auto used = client.memory_use(pod.namespace_name, pod.name)) {
    out.used = std::move(*used);
  }
  // Few users may read nodes; asking first spares the cluster's log the refusals.
  const auto allowed = client.may("", "get", "nodes", "");
  if (allowed && *allowed && !pod.node.empty()) {
    out.node_presses = client.node_lacks_memory(pod.node).value_or(false);
  }
  return out;
}

base::Status check_headroom(const kube::Pod& pod, const PodHeadroom& headroom) {
  if (headroom.node_presses) {
    return base::make_failure(ErrorCode::kLimit,
                              "node " + base::printable(pod.node) + " of " + shown(pod) +
                                  " runs out of memory: what a capture needs could get the pod "
                                  "evicted",
                              "wait until its condition MemoryPressure is over; --force captures "
                              "anyway, and the pod may then be evicted");
  }
  for (const kube::Container& one : pod.containers) {
    const auto used = headroom.used.find(one.name);
    const bool counts = one.memory_limit && used != headroom.used.end() && !kube::is_jprof(one);
    if (counts && left_of(*one.memory_limit, used->second) < kAgentNeeds) {
      return base::fail(too_little("container " + base::printable(one.name) + " of " + shown(pod) +
                                       " uses " + mebibytes(used->second) + " of its limit of " +
                                       mebibytes(*one.memory_limit),
                                   kAgentNeeds, left_of(*one.memory_limit, used->second)));
    }
  }
  if (!pod.memory_limit) {
    return {};
  }
  const bool measured = !headroom.used.empty();
  const std::uint64_t used = measured ? total(headroom.used) : kMinJvmBytes;
  const std::uint64_t left = left_of(*pod.memory_limit, used);
  if (left >= kCaptureNeeds) {
    return {};
  }
  const std::string limit = mebibytes(*pod.memory_limit);
  return base::fail(
      too_little(measured ? shown(pod) + " uses " + mebibytes(used) + " of its limit of " + limit
                          : shown(pod) + " may use no more than " + limit,
                 kCaptureNeeds, left));
}

std::string headroom_text(const kube::Pod& pod, const PodHeadroom& headroom) {
  const std::string limit =
      pod.memory_limit ? "the pod may use " + mebibytes(*pod.memory_limit) : "the pod has no limit";
  return limit + (headroom.used.empty() ? ", its use is unknown"
                                        : " and uses " + mebibytes(total(headroom.used)));
}

} // namespace jprof::plugin
