// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/pod.h"

#include "lib/base/encoding.h"
#include "lib/kube/quantity.h"

#include <algorithm>
#include <utility>

namespace jprof::kube {
namespace {

using base::ErrorCode;
using base::Json;
using Kind = Container::Kind;
using State = Container::State;

constexpr std::string_view kSidecarName = "jprof";
constexpr std::string_view kEphemeralPrefix = "jprof-";

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::optional<std::int64_t> read_id(const Json& object, const char* key) {
  const std::int64_t id = base::json_int(object, key, -1);
  return id < 0 ? std::nullopt : std::optional(id);
}

std::optional<std::uint64_t> read_memory_limit(const Json& object) {
  const Json& limits = base::json_object(base::json_object(object, "resources"), "limits");
  return limits.contains("memory") ? parse_bytes(base::json_string(limits, "memory"))
                                   : std::nullopt;
}

void read_ending(const Json& status, Container& out) {
  for (const char* which : {"state", "lastState"}) {
    const Json& state = base::json_object(status, which);
    if (state.contains("terminated")) {
      const Json& detail = base::json_object(state, "terminated");
      out.ending = {base::json_string(detail, "reason"), base::json_int(detail, "exitCode")};
      return;
    }
  }
}

void read_state(const Json& status, Container& out) {
  const Json& state = base::json_object(status, "state");
  out.restarts = base::json_int(status, "restartCount");
  read_ending(status, out);
  out.image_id = base::json_string(status, "imageID");
  out.container_id = base::json_string(status, "containerID");
  const Json& user = base::json_object(base::json_object(status, "user"), "linux");
  out.running = {read_id(user, "uid"), read_id(user, "gid")};
  if (state.contains("running")) {
    out.state = State::kRunning;
    return;
  }
  const bool waiting = state.contains("waiting");
  if (!waiting && !state.contains("terminated")) {
    return;
  }
  out.state = waiting ? State::kWaiting : State::kTerminated;
  const Json& detail = base::json_object(state, waiting ? "waiting" : "terminated");
  out.state_reason = base::json_string(detail, "reason");
  out.state_message = base::json_string(detail, "message");
}

void read_containers(const Json& object, const char* spec_key, const char* status_key, Kind kind,
                     std::vector<Container>& out) {
  const Json& statuses = base::json_array(base::json_object(object, "status"), status_key);
  for (const Json& item : base::json_array(base::json_object(object, "spec"), spec_key)) {
    Container container;
    container.name = base::json_string(item, "name");
    container.image = base::json_string(item, "image");
    container.kind = kind;
    container.target = base::json_string(item, "targetContainerName");
    const Json& security = base::json_object(item, "securityContext");
    container.read_only_root = base::json_bool(security, "readOnlyRootFilesystem");
    for (const Json& mount : base::json_array(item, "volumeMounts")) {
      const std::string path = base::json_string(mount, "mountPath");
      container.tmp_volume = container.tmp_volume || ((path == "/tmp" || path == "/tmp/") &&
                                                      !base::json_bool(mount, "readOnly"));
    }
    container.wanted = {read_id(security, "runAsUser"), read_id(security, "runAsGroup")};
    const Json& capabilities = base::json_object(security, "capabilities");
    for (const Json& one : base::json_array(capabilities, "add")) {
      container.capabilities.push_back(one.is_string() ? one.get<std::string>() : std::string());
    }
    container.memory_limit = read_memory_limit(item);
    if (kind == Kind::kInit && base::json_string(item, "restartPolicy") == "Always") {
      container.kind = Kind::kSidecar;
    }
    for (const Json& status : statuses) {
      if (base::json_string(status, "name") == container.name) {
        read_state(status, container);
      }
    }
    out.push_back(std::move(container));
  }
}

// What the kubelet gives the pod's own cgroup: the pod's limit, else the sum of what runs side by
// side, where each has one (pkg/kubelet/cm/helpers_linux.go, ResourceConfigForPod). An ephemeral
// container can have no limit of its own, and lives within this one.
std::optional<std::uint64_t> pod_memory_limit(const Json& spec,
                                              const std::vector<Container>& containers) {
  if (const auto own = read_memory_limit(spec)) {
    return own;
  }
  std::uint64_t together = 0;
  std::uint64_t largest_init = 0;
  for (const Container& one : containers) {
    if (one.kind == Kind::kEphemeral) {
      continue;
    }
    if (!one.memory_limit) {
      return std::nullopt;
    }
    if (one.kind == Kind::kInit) {
      largest_init = std::max(largest_init, *one.memory_limit);
    } else {
      together += *one.memory_limit;
    }
  }
  return std::max(together, largest_init);
}

// The workload behind the pod, without asking for more objects (and more rights): a ReplicaSet's
// name is its Deployment's and the pod-template-hash label.
void read_owner(const Json& metadata, Pod& out) {
  for (const Json& owner : base::json_array(metadata, "ownerReferences")) {
    if (!base::json_bool(owner, "controller")) {
      continue;
    }
    out.workload_kind = base::json_string(owner, "kind");
    out.workload = base::json_string(owner, "name");
    std::string hash = "-";
    hash += base::json_string(base::json_object(metadata, "labels"), "pod-template-hash");
    if (out.workload_kind == "ReplicaSet" && hash.size() > 1 && ends_with(out.workload, hash)) {
      out.workload_kind = "Deployment";
      out.workload.resize(out.workload.size() - hash.size());
    }
  }
}

std::string shown(const Pod& pod) {
  return "pod " + base::printable(pod.namespace_name) + "/" + base::printable(pod.name);
}

std::string names_of_targets(const Pod& pod) {
  std::string out;
  for (const Container& container : pod.containers) {
    if (!is_jprof(container) && container.kind != Kind::kInit) {
      out += (out.empty() ? "" : ", ") + base::printable(container.name);
    }
  }
  return out.empty() ? "it has no other container" : "its containers: " + out;
}

std::string state_words(const Container& container) {
  std::string out;
  switch (container.state) {
  case State::kWaiting:
    out = "is waiting";
    break;
  case State::kTerminated:
    out = "has ended";
    break;
  case State::kRunning:
    return "is running";
  case State::kUnknown:
    return "has not started";
  }
  if (!container.state_reason.empty()) {
    out += ": " + base::printable(container.state_reason);
  }
  if (!container.state_message.empty()) {
    out += ": " + base::printable(container.state_message);
  }
  return out;
}

base::Error not_running(const Pod& pod, const Container& container) {
  const bool ended = container.state == State::kTerminated;
  return base::make_error(ended ? ErrorCode::kTargetGone : ErrorCode::kTargetNotFound,
                          "container " + base::printable(container.name) + " of " + shown(pod) +
                              " " + state_words(container),
                          "try again once it runs");
}

// kubectl's own choice; an annotation that names nothing is as good as none.
const Container* choose_target(const Pod& pod) {
  const Container* only = pod.default_container.empty() ? nullptr : pod.find(pod.default_container);
  if (only != nullptr && !is_jprof(*only) && only->kind == Kind::kApp) {
    return only;
  }
  only = nullptr;
  for (const Container& container : pod.containers) {
    if (is_jprof(container) || container.kind != Kind::kApp) {
      continue;
    }
    if (only != nullptr) {
      return nullptr;
    }
    only = &container;
  }
  return only;
}

} // namespace

const Container* Pod::find(std::string_view container) const {
  const auto found =
      std::find_if(containers.begin(), containers.end(),
                   [container](const Container& one) { return one.name == container; });
  return found == containers.end() ? nullptr : &*found;
}

bool is_jprof(const Container& container) {
  return container.name == kSidecarName ||
         (container.kind == Kind::kEphemeral && begins_with(container.name, kEphemeralPrefix));
}

std::string runtime_id(const Container& container) {
  constexpr std::string_view kMark = "://";
  const std::size_t at = container.container_id.find(kMark);
  return at == std::string::npos ? container.container_id
                                 : container.container_id.substr(at + kMark.size());
}

Ids ids_of(const Pod& pod, const Container& container) {
  const auto first = [](std::optional<std::int64_t> a, std::optional<std::int64_t> b,
                        std::optional<std::int64_t> c) {
    return a ? a : b ? b : c;
  };
  return {first(container.wanted.uid, pod.wanted.uid, container.running.uid),
          first(container.wanted.gid, pod.wanted.gid, container.running.gid)};
}

base::Result<Pod> parse_pod(const Json& object) {
  const Json& metadata = base::json_object(object, "metadata");
  const Json& spec = base::json_object(object, "spec");
  const Json& status = base::json_object(object, "status");
  Pod out;
  out.name = base::json_string(metadata, "name");
  out.namespace_name = base::json_string(metadata, "namespace");
  if (out.name.empty() || out.namespace_name.empty()) {
    return base::make_failure(ErrorCode::kProtocol, "the server's answer is not a pod");
  }
  out.uid = base::json_string(metadata, "uid");
  out.terminating = metadata.contains("deletionTimestamp");
  out.node = base::json_string(spec, "nodeName");
  out.os = base::json_string(base::json_object(spec, "os"), "name");
  out.host_pid = base::json_bool(spec, "hostPID");
  const Json& security = base::json_object(spec, "securityContext");
  out.wanted = {read_id(security, "runAsUser"), read_id(security, "runAsGroup")};
  const Json& annotations = base::json_object(metadata, "annotations");
  out.mirror = annotations.contains("kubernetes.io/config.mirror");
  out.default_container = base::json_string(annotations, "kubectl.kubernetes.io/default-container");
  out.share_process_namespace = base::json_bool(spec, "shareProcessNamespace");
  out.phase = base::json_string(status, "phase");
  out.phase_reason = base::json_string(status, "reason");
  for (const Json& condition : base::json_array(status, "conditions")) {
    const std::string type = base::json_string(condition, "type");
    const bool holds = base::json_string(condition, "status") == "True";
    if (type == "Ready") {
      out.ready = holds;
    } else if (type == "PodScheduled" && !holds) {
      out.unscheduled = base::json_string(condition, "message", "not scheduled yet");
    }
  }
  read_owner(metadata, out);
  read_containers(object, "initContainers", "initContainerStatuses", Kind::kInit, out.containers);
  read_containers(object, "containers", "containerStatuses", Kind::kApp, out.containers);
  read_containers(object, "ephemeralContainers", "ephemeralContainerStatuses", Kind::kEphemeral,
                  out.containers);
  out.memory_limit = pod_memory_limit(spec, out.containers);
  return out;
}

base::Result<const Container*> find_sidecar(const Pod& pod) {
  const Container* idle = nullptr; // ours, but not running
  for (const Container& container : pod.containers) {
    if (!is_jprof(container)) {
      continue;
    }
    if (container.state == State::kRunning) {
      return &container;
    }
    // An ephemeral container that has ended cannot be used again, and says nothing of this attempt.
    if (container.kind != Kind::kEphemeral) {
      idle = &container;
    }
  }
  if (idle != nullptr) {
    return base::make_failure(ErrorCode::kNoSidecar,
                              "the jprof container of " + shown(pod) + " " + state_words(*idle),
                              "kubectl -n " + base::printable(pod.namespace_name) +
                                  " describe pod " + base::printable(pod.name) + " says more");
  }
  return base::make_failure(ErrorCode::kNoSidecar, shown(pod) + " has no jprof container",
                            "add the sidecar to its template (charts/jprof-sidecar): container "
                            "\"jprof\" with the image's "
                            "/jprof serve, and shareProcessNamespace: true");
}

base::Result<const Container*> find_target(const Pod& pod, std::string_view wanted) {
  if (!wanted.empty()) {
    const Container* found = pod.find(wanted);
    if (found != nullptr && is_jprof(*found)) {
      return base::make_failure(ErrorCode::kTargetNotFound,
                                "container " + found->name + " is jprof itself",
                                names_of_targets(pod));
    }
    if (found == nullptr) {
      return base::make_failure(ErrorCode::kTargetNotFound,
                                "container " + base::printable(wanted) + " is not in " + shown(pod),
                                names_of_targets(pod));
    }
    if (found->state != State::kRunning) {
      return base::fail(not_running(pod, *found));
    }
    return found;
  }
  if (!pod.unscheduled.empty()) {
    return base::make_failure(ErrorCode::kTargetNotFound,
                              shown(pod) + " has no node: " + base::printable(pod.unscheduled, 500),
                              "try again once it runs");
  }
  const Container* chosen = choose_target(pod);
  if (chosen != nullptr &&
      (chosen->state == State::kWaiting || chosen->state == State::kTerminated)) {
    return base::fail(not_running(pod, *chosen));
  }
  return chosen;
}

base::Status check_pod(const Pod& pod) {
  if (pod.os == "windows") {
    return base::make_failure(ErrorCode::kJvmUnsupported,
                              shown(pod) + " runs Windows; jprof profiles JVMs on Linux");
  }
  if (pod.phase == "Succeeded" || pod.phase == "Failed") {
    return base::make_failure(ErrorCode::kTargetGone,
                              shown(pod) + " has ended (" + pod.phase + ")");
  }
  return {};
}

} // namespace jprof::kube
