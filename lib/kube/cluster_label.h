// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/kube/cluster_access.h"

#include <string>

namespace jprof::kube {

// What a cluster is called if nobody named it: "ca-" and the beginning of the SHA-256 of its
// certificate authority. The name in a kubeconfig is its owner's choice, and a pod's service
// account has no name at all; the authority is the same in both. Without one (a system's own
// authorities, no TLS) it is the kubeconfig's name.
std::string cluster_label(const ClusterAccess& access);

} // namespace jprof::kube
