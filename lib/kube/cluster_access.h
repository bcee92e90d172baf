// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/secret.h"
#include "lib/kube/kube_config.h"

#include <optional>
#include <string>
#include <vector>

namespace jprof::kube {

// Where a process looks for its cluster: a seam, so that tests need no environment of their own.
struct AccessEnvironment {
  std::string kubeconfig; // $KUBECONFIG
  std::string home;       // $HOME
  std::string service_host;
  std::string service_port; // $KUBERNETES_SERVICE_{HOST,PORT}
  std::string pod_namespace;
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";

  static AccessEnvironment of_process();
};

// The global flags of kubectl that choose a cluster and an identity; empty: not given.
struct AccessOptions {
  std::string kubeconfig{};
  std::string context{};
  std::string cluster{};
  std::string user{};
  std::string namespace_name{};
  std::string server{};
  std::string token{};
  std::string tls_server_name{};
  std::string certificate_authority{}; // a file
  bool insecure = false;
  Impersonation impersonation{};
};

// All that one connection needs. Certificates and keys are content, not paths.
struct ClusterAccess {
  std::string server;       // scheme://host[:port][/prefix], no slash at the end
  std::string cluster_name; // as the kubeconfig calls it; "in-cluster" for a service account
  std::string namespace_name;
  std::string tls_server_name;
  std::string ca_pem; // empty: the system's authorities
  bool insecure = false;
  std::string proxy_url; // empty: the environment's

  std::string client_certificate_pem;
  base::Secret client_key_pem;
  base::Secret token;
  std::string token_file; // read again at each use: the kubelet rotates it; wins over `token`
  std::string username;
  base::Secret password;
  std::optional<ExecPluginEntry> exec;
  config::YamlNode exec_extension;
  Impersonation impersonation;
  bool in_cluster = false;
};

// From flags, then KUBECONFIG or ~/.kube/config, then the pod's service account, as kubectl does.
// Reads files, contacts nobody. Errors: kConfigInvalid.
base::Result<ClusterAccess> resolve_access(const AccessOptions& options,
                                           const AccessEnvironment& environment);

} // namespace jprof::kube
