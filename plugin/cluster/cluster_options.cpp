// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/cluster/cluster_options.h"

#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace jprof::plugin {

void add_cluster_options(cli::Command command, kube::AccessOptions& options) {
  constexpr const char* kGroup = "Cluster";
  const auto add = [&command](const char* name, std::string& value, const char* text) {
    command.option(name, value, text).group(kGroup);
  };
  add("-n,--namespace", options.namespace_name, "Namespace; default: the context's");
  add("--context", options.context, "Context of the kubeconfig");
  add("--kubeconfig", options.kubeconfig, "File instead of $KUBECONFIG or ~/.kube/config");
  add("--cluster", options.cluster, "Cluster of the kubeconfig");
  add("--user", options.user, "User of the kubeconfig");
  add("-s,--server", options.server, "Address of the API server");
  add("--token", options.token, "Bearer token");
  add("--tls-server-name", options.tls_server_name, "Name to check the server's certificate for");
  add("--certificate-authority", options.certificate_authority, "File of certificate authorities");
  command
      .flag("--insecure-skip-tls-verify", options.insecure, "Do not check the server's certificate")
      .group(kGroup);
  add("--as", options.impersonation.user, "User to impersonate");
  add("--as-uid", options.impersonation.uid, "UID to impersonate");
  command.option("--as-group", options.impersonation.groups, "Group to impersonate; repeatable")
      .group(kGroup)
      .repeated();
}

std::string requester(const kube::ClusterAccess& access) {
  const char* name = std::getenv(access.in_cluster ? "HOSTNAME" : "USER");
  if (access.in_cluster) {
    return "pod " + std::string(name == nullptr ? "" : name);
  }
  return name == nullptr || *name == 0 ? "uid " + std::to_string(::getuid()) : name;
}

base::Result<std::unique_ptr<kube::KubeClient>> connect(const kube::AccessOptions& options) {
  JPROF_TRY_ASSIGN(kube::ClusterAccess access,
                   kube::resolve_access(options, kube::AccessEnvironment::of_process()));
  return kube::make_kube_client(std::move(access));
}

} // namespace jprof::plugin
