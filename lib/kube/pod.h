// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::kube {

// User and group ids, each where it is known.
struct Ids {
  std::optional<std::int64_t> uid{};
  std::optional<std::int64_t> gid{};
};

// How a container's process ended.
struct Ending {
  std::string reason;         // "OOMKilled", "Error", "Completed", "StartError", ...
  std::int64_t exit_code = 0; // 128 + the signal where one ended it

  bool operator==(const Ending&) const = default;
};

// One container of a pod, specification and status together.
struct Container {
  enum class Kind { kApp, kInit, kSidecar, kEphemeral }; // kSidecar: init with restartPolicy Always
  enum class State { kUnknown, kWaiting, kRunning, kTerminated };

  std::string name;
  Kind kind = Kind::kApp;
  std::string image;
  std::string image_id;     // as the runtime resolved it, with its digest
  std::string container_id; // "containerd://..."
  State state = State::kUnknown;
  std::string state_reason; // of waiting and terminated: "ImagePullBackOff", "OOMKilled"
  std::string state_message;
  std::optional<Ending> ending{}; // of the last run that has ended: this one, or the one before it
  std::int64_t restarts = 0;
  std::string target; // of an ephemeral container: whose process namespace it joined
  bool read_only_root = false;
  bool tmp_volume = false;                     // something writable is mounted at /tmp
  std::vector<std::string> capabilities{};     // added by its securityContext
  std::optional<std::uint64_t> memory_limit{}; // bytes
  Ids wanted{};  // runAsUser and runAsGroup of its own securityContext
  Ids running{}; // status.user.linux (Kubernetes >= 1.31 and a runtime that reports it)
};

// What jprof needs to know of a pod.
struct Pod {
  std::string name;
  std::string namespace_name;
  std::string uid;
  std::string node;
  std::string phase;
  std::string phase_reason; // of a pod that failed: "Evicted"
  std::string os;           // spec.os.name, empty where it is not said
  bool terminating = false;
  bool share_process_namespace = false;
  bool host_pid = false;
  bool mirror = false; // a static pod's image in the API: it cannot be changed there
  bool ready = false;
  std::string unscheduled; // why it has no node yet; empty where it has one
  Ids wanted{};            // runAsUser and runAsGroup of the pod's securityContext
  std::optional<std::uint64_t> memory_limit{}; // bytes that all its containers together may take
  std::string default_container;               // annotation kubectl.kubernetes.io/default-container
  std::string workload_kind; // "Deployment", "StatefulSet", ...; empty: a bare pod
  std::string workload;
  std::vector<Container> containers;

  const Container* find(std::string_view container) const;
};

// kProtocol if it is not a pod.
base::Result<Pod> parse_pod(const base::Json& object);

// The container in which `/jprof session` runs: "jprof" as native sidecar or plain container,
// otherwise a running ephemeral one of ours ("jprof-..."). kNoSidecar says what is there instead,
// and the cure.
base::Result<const Container*> find_sidecar(const Pod& pod);

// The container is ours: the sidecar "jprof" or an ephemeral one "jprof-...".
bool is_jprof(const Container& container);

// What the runtime calls a container: `container_id` without the runtime's own name. Empty before
// its first start.
std::string runtime_id(const Container& container);

// Which user a container runs as, as far as the API knows: its own securityContext, then the pod's,
// then what the runtime reported. An image's USER is not in the API.
Ids ids_of(const Pod& pod, const Container& container);

// The container that holds the JVM: `wanted`, or, if that is empty, the one that the pod's
// annotation names, or the only application container besides ours, or nullptr if the choice is the
// sidecar's. kTargetNotFound names the existing ones, or says why it is not running (yet),
// kTargetGone why it no longer is.
base::Result<const Container*> find_target(const Pod& pod, std::string_view wanted);

// Refuses pods in which nothing can run any more, or that are not Linux (kTargetGone,
// kJvmUnsupported).
base::Status check_pod(const Pod& pod);

} // namespace jprof::kube
