// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/cli/program.h"
#include "lib/kube/cluster_access.h"
#include "lib/kube/kube_client.h"

#include <memory>
#include <string>

namespace jprof::plugin {

// Adds kubectl's global flags, which a plugin has to provide itself, to a command. `options` must
// live as long as the command.
void add_cluster_options(cli::Command command, kube::AccessOptions& options);

// A client for the cluster that the flags, the kubeconfig or the pod's service account name.
base::Result<std::unique_ptr<kube::KubeClient>> connect(const kube::AccessOptions& options);

// The requester, as this machine knows it: a claim for the sidecar's log and for manifests.
std::string requester(const kube::ClusterAccess& access);

} // namespace jprof::plugin
