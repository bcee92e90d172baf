// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Says how lib/kube resolves kubeconfigs, in the form of tests/e2e/kubeall/clientcmd: cases on
// standard input, a JSON object a line, an answer a line.
#include "lib/base/json.h"
#include "lib/kube/cluster_access.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

namespace {

using namespace jprof;
using base::Json;

kube::AccessOptions options_of(const Json& flags) {
  kube::AccessOptions out;
  out.kubeconfig = base::json_string(flags, "Kubeconfig");
  out.context = base::json_string(flags, "Context");
  out.cluster = base::json_string(flags, "Cluster");
  out.user = base::json_string(flags, "User");
  out.namespace_name = base::json_string(flags, "Namespace");
  out.server = base::json_string(flags, "Server");
  out.token = base::json_string(flags, "Token");
  out.tls_server_name = base::json_string(flags, "TLSServerName");
  out.certificate_authority = base::json_string(flags, "CertificateAuthority");
  out.insecure = base::json_bool(flags, "Insecure");
  return out;
}

Json exec_json(const kube::ExecPluginEntry& exec) {
  Json environment = Json::array();
  for (const auto& [name, value] : exec.environment) {
    environment.push_back(name + "=" + value);
  }
  return {{"command", exec.command},
          {"arguments", exec.arguments},
          {"environment", environment},
          {"apiVersion", exec.api_version},
          {"interactiveMode", exec.interactive_mode},
          {"provideClusterInfo", exec.provide_cluster_info}};
}

Json resolve(const Json& one) {
  kube::AccessEnvironment environment;
  environment.kubeconfig = base::json_string(one, "Kubeconfig");
  environment.service_account = "/nonexistent";
  const auto access =
      kube::resolve_access(options_of(base::json_object(one, "Flags")), environment);
  if (!access) {
    return {{"error", access.error().text()}};
  }
  return {{"server", access->server},
          {"namespace", access->namespace_name},
          {"token", std::string(access->token.reveal())},
          {"tokenFile", access->token_file},
          {"username", access->username},
          {"password", std::string(access->password.reveal())},
          {"insecure", access->insecure},
          {"tlsServerName", access->tls_server_name},
          {"ca", access->ca_pem},
          {"certificate", access->client_certificate_pem},
          {"key", std::string(access->client_key_pem.reveal())},
          {"as", access->impersonation.user},
          {"asUid", access->impersonation.uid},
          {"asGroups", access->impersonation.groups},
          {"asExtra", access->impersonation.extra},
          {"proxy", access->proxy_url},
          {"exec", access->exec ? exec_json(*access->exec) : Json()}};
}

} // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto one = base::parse_json(line);
    if (!one) {
      return EXIT_FAILURE;
    }
    std::printf("%s\n", base::dump_json(resolve(*one)).c_str());
  }
  return EXIT_SUCCESS;
}
