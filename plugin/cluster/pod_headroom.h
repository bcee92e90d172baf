// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/kube/kube_client.h"
#include "lib/kube/pod.h"

#include <cstdint>
#include <string>

namespace jprof::plugin {

// Memory that is left for an ephemeral container, as far as the API shows it. Such a container has
// neither request nor limit of its own and lives within the pod's: when that is full, the kernel
// ends the largest process, which is the JVM.
struct PodHeadroom {
  kube::MemoryUse used{}; // empty: the cluster measures nothing, or does not tell us
  bool node_presses = false;
};

// Asks what it may; what is refused or absent stays unknown.
PodHeadroom ask_headroom(kube::KubeClient& client, const kube::Pod& pod);

// kLimit with the figure and the cure if a capture does not fit beside the JVM.
base::Status check_headroom(const kube::Pod& pod, const PodHeadroom& headroom);

// What is known, in words, for doctor.
std::string headroom_text(const kube::Pod& pod, const PodHeadroom& headroom);

} // namespace jprof::plugin
