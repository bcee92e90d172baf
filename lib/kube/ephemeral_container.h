// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/kube/pod.h"

#include <string>

namespace jprof::kube {

// An ephemeral container of ours (kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers):
// `/jprof serve` that ends when nobody calls. It asks for no more than Pod Security `restricted`
// allows, unless its user is root or it was given a capability.
struct EphemeralContainer {
  std::string name; // "jprof-<8 base32>"; never to be used again in this pod
  std::string image;
  std::string pull_policy = "IfNotPresent";
  std::string target;     // container whose process namespace it joins
  Ids ids;                // unset: the image's own user
  std::string capability; // "SYS_PTRACE", or empty: none
  std::string idle_exit = "10m";
};

// The strategic merge patch of pods/ephemeralcontainers that adds it. Bound to the pod's uid, so
// that it cannot meet a successor of the same name.
base::Json ephemeral_patch(const Pod& pod, const EphemeralContainer& container);

} // namespace jprof::kube
