// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/container/process.h"

#include <string>
#include <string_view>

namespace jprof::container {

// Which container and pod a process belongs to, by what the container runtimes write into cgroup
// paths and mounts. Both empty outside containers. Only letters, digits and '-'.
struct ContainerIds {
  std::string container_id; // 64 hex digits
  std::string pod_uid;      // as Kubernetes writes it: 8-4-4-4-12, or 32 hex digits of a static pod
};

// From /proc/PID/cgroup, version 1, 2 or both: "/kubepods/burstable/pod<uid>/<id>",
// "/kubepods.slice/.../kubepods-burstable-pod<uid with _>.slice/cri-containerd-<id>.scope",
// "/../<id>" as a process in another cgroup namespace sees it, "/docker/<id>".
ContainerIds parse_cgroup(std::string_view text);

// What is missing there, from /proc/PID/mountinfo: the kubelet mounts /etc/hosts and the volumes of
// a pod from ".../pods/<uid>/...", runtimes the root from a path with the container's id.
void complete_from_mountinfo(std::string_view text, ContainerIds& ids);

// Both ids of a process that we see. The target cannot choose what they say: both files are the
// kernel's.
ContainerIds container_ids_of(const Process& process);

} // namespace jprof::container
