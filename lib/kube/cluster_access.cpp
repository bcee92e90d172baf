// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/cluster_access.h"

#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <sys/stat.h>
#include <utility>

namespace jprof::kube {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::size_t kMaxFileBytes = 1024 * 1024;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

tl::unexpected<base::Error> invalid(std::string message, std::string cure = {}) {
  return base::make_failure(ErrorCode::kConfigInvalid, std::move(message), std::move(cure));
}

Result<std::string> content(const std::string& data, const std::string& path,
                            const std::string& what) {
  if (!data.empty() || path.empty()) {
    return data;
  }
  Result<std::string> text = base::read_file(path, kMaxFileBytes);
  if (!text) {
    base::Error error = std::move(text).error();
    error.code = ErrorCode::kConfigInvalid;
    return base::fail(std::move(error).with_context(what));
  }
  return text;
}

bool in_cluster_possible(const AccessEnvironment& environment) {
  struct stat info {};
  return !environment.service_host.empty() && !environment.service_port.empty() &&
         ::stat((environment.service_account + "/token").c_str(), &info) == 0 &&
         !S_ISDIR(info.st_mode);
}

std::string pod_namespace(const AccessEnvironment& environment) {
  if (!environment.pod_namespace.empty()) {
    return environment.pod_namespace;
  }
  const auto text = base::read_file(environment.service_account + "/namespace", 4096);
  const std::string name = text ? std::string(base::trimmed(*text)) : std::string();
  return name.empty() ? "default" : name;
}

Result<KubeConfig> load(const AccessOptions& options, const AccessEnvironment& environment) {
  if (!options.kubeconfig.empty()) {
    return load_kube_config_file(options.kubeconfig);
  }
  if (!environment.kubeconfig.empty()) {
    return load_kube_config_list(environment.kubeconfig);
  }
  if (environment.home.empty()) {
    return KubeConfig{};
  }
  return load_kube_config_list(environment.home + "/.kube/config");
}

template <typename Entry>
std::string names_of(const std::map<std::string, Entry>& entries) {
  std::string out;
  for (const auto& [name, entry] : entries) {
    out += (out.empty() ? "" : ", ") + base::printable(name);
  }
  return out.empty() ? "there is none" : "there are: " + out;
}

// The entries that flags and the chosen context select; an absent one is empty unless a flag named
// it.
struct Selection {
  std::string context_name;
  ContextEntry context;
  ClusterEntry cluster;
  UserEntry user;
  bool has_cluster = false;
};

template <typename Entry>
Result<bool> pick(const std::map<std::string, Entry>& entries, const std::string& what,
                  const std::string& name, bool required, Entry& out) {
  const auto found = entries.find(name);
  if (found != entries.end()) {
    out = found->second;
    return true;
  }
  if (required) {
    return invalid(what + " \"" + base::printable(name) + "\" does not exist in the kubeconfig",
                   names_of(entries));
  }
  return false;
}

Result<Selection> select(const KubeConfig& config, const AccessOptions& options) {
  Selection out;
  const bool context_named = !options.context.empty();
  out.context_name = context_named ? options.context : config.current_context;
  JPROF_TRY(
      pick(config.contexts, "context", out.context_name, !out.context_name.empty(), out.context));
  if (!options.cluster.empty()) {
    out.context.cluster = options.cluster;
  }
  if (!options.user.empty()) {
    out.context.user = options.user;
  }
  JPROF_TRY(pick(config.users, "user", out.context.user, !options.user.empty(), out.user));
  JPROF_TRY_ASSIGN(out.has_cluster, pick(config.clusters, "cluster", out.context.cluster,
                                         !options.cluster.empty(), out.cluster));
  return out;
}

void apply_flags(const AccessOptions& options, ClusterEntry& cluster, UserEntry& user) {
  if (!options.server.empty()) {
    cluster.server = options.server;
  }
  // Naming a server clears the kubeconfig's TLS name for the old one.
  if (!options.tls_server_name.empty() || !options.server.empty()) {
    cluster.tls_server_name = options.tls_server_name;
  }
  if (options.insecure || !options.certificate_authority.empty()) {
    cluster.insecure = options.insecure;
    cluster.ca_file = options.certificate_authority;
    cluster.ca_data.clear();
  }
  if (!options.token.empty()) {
    user.token = base::Secret(options.token);
    user.token_file.clear();
  }
  if (!options.impersonation.user.empty()) {
    user.impersonation.user = options.impersonation.user;
  }
  if (!options.impersonation.uid.empty()) {
    user.impersonation.uid = options.impersonation.uid;
  }
  if (!options.impersonation.groups.empty()) {
    user.impersonation.groups = options.impersonation.groups;
  }
}

base::Status check_cluster(const ClusterEntry& cluster, const std::string& name) {
  const std::string shown = "cluster \"" + base::printable(name) + "\"";
  if (cluster.server.empty()) {
    return invalid("no server found for " + shown,
                   "set clusters[].cluster.server in the kubeconfig");
  }
  if (!cluster.ca_data.empty() && !cluster.ca_file.empty()) {
    return invalid(shown + " gives its certificate authority both as a file and as data",
                   "remove one of the two from the kubeconfig");
  }
  // Over plain HTTP neither counts.
  const bool encrypted = cluster.server.rfind("https://", 0) == 0;
  if (encrypted && cluster.insecure && (!cluster.ca_data.empty() || !cluster.ca_file.empty())) {
    return invalid(shown + " has both a certificate authority and insecure-skip-tls-verify",
                   "remove one of the two from the kubeconfig");
  }
  return {};
}

base::Status check_exec(const ExecPluginEntry& exec, const std::string& shown) {
  if (exec.command.empty()) {
    return invalid("the exec plugin of " + shown + " has no command");
  }
  if (exec.api_version != "client.authentication.k8s.io/v1" &&
      exec.api_version != "client.authentication.k8s.io/v1beta1") {
    return invalid("the exec plugin of " + shown + " has the unknown apiVersion \"" +
                       base::printable(exec.api_version) + "\"",
                   "write client.authentication.k8s.io/v1, if the plugin speaks it");
  }
  if (exec.interactive_mode != "Never" && exec.interactive_mode != "IfAvailable" &&
      exec.interactive_mode != "Always") {
    return invalid("the exec plugin of " + shown + " needs interactiveMode",
                   "write Never, IfAvailable or Always");
  }
  return {};
}

base::Status check_user(const UserEntry& user, const std::string& name) {
  const std::string shown = "user \"" + base::printable(name) + "\"";
  const bool basic = !user.username.empty() || !user.password.empty();
  if (!user.token.empty() && basic) {
    return invalid(shown + " has both a token and a password", "only one of them is allowed");
  }
  const bool certificate = !user.certificate_file.empty() || !user.certificate_data.empty();
  if (certificate && user.key_file.empty() && user.key_data.empty()) {
    return invalid(shown + " has a client certificate without a client-key or client-key-data");
  }
  if ((!user.certificate_file.empty() && !user.certificate_data.empty()) ||
      (certificate && !user.key_file.empty() && !user.key_data.empty())) {
    return invalid(shown + " gives a client certificate or key both as a file and as data",
                   "remove one of the two");
  }
  const Impersonation& as = user.impersonation;
  if (as.user.empty() && (!as.uid.empty() || !as.groups.empty() || !as.extra.empty())) {
    return invalid(shown + " impersonates a uid, groups or extra without a user", "add --as");
  }
  if (!user.auth_provider.empty()) {
    return invalid(shown + " uses the built-in auth-provider \"" +
                       base::printable(user.auth_provider) + "\", which no longer exists",
                   "use your provider's exec credential plugin instead");
  }
  return user.exec ? check_exec(*user.exec, shown) : base::Status();
}

// As kubectl: a server without a scheme speaks plain HTTP, whatever else is said about TLS.
std::string with_scheme(const std::string& server) {
  std::string out = server.find("://") == std::string::npos ? "http://" + server : server;
  while (!out.empty() && out.back() == '/') {
    out.pop_back();
  }
  return out;
}

Result<ClusterAccess> from_selection(const Selection& selection) {
  const ClusterEntry& cluster = selection.cluster;
  const UserEntry& user = selection.user;
  ClusterAccess out;
  out.cluster_name = selection.context.cluster;
  out.namespace_name = selection.context.namespace_name;
  out.proxy_url = cluster.proxy_url;
  out.server = with_scheme(cluster.server);
  out.impersonation = user.impersonation;
  if (out.server.rfind("https://", 0) != 0) {
    return out; // a secret never travels in clear: kubectl keeps them to itself here, too
  }
  out.tls_server_name = cluster.tls_server_name;
  out.insecure = cluster.insecure;
  JPROF_TRY_ASSIGN(out.ca_pem, content(cluster.ca_data, cluster.ca_file, "certificate-authority"));
  JPROF_TRY_ASSIGN(out.client_certificate_pem,
                   content(user.certificate_data, user.certificate_file, "client-certificate"));
  JPROF_TRY_ASSIGN(std::string key,
                   content(std::string(user.key_data.reveal()), user.key_file, "client-key"));
  out.client_key_pem = base::Secret(std::move(key));
  out.token = user.token;
  out.token_file = user.token_file;
  out.username = user.username;
  out.password = user.password;
  out.exec = user.exec;
  out.exec_extension = cluster.exec_extension;
  return out;
}

Result<ClusterAccess> from_service_account(const AccessOptions& options,
                                           const AccessEnvironment& environment) {
  ClusterAccess out;
  const bool ipv6 = environment.service_host.find(':') != std::string::npos;
  out.server = "https://" +
               (ipv6 ? "[" + environment.service_host + "]" : environment.service_host) + ":" +
               environment.service_port;
  out.cluster_name = "in-cluster";
  out.in_cluster = true;
  out.token_file = environment.service_account + "/token";
  JPROF_TRY_ASSIGN(out.ca_pem,
                   content({}, environment.service_account + "/ca.crt", "service account"));
  out.impersonation = options.impersonation;
  if (!options.token.empty()) {
    out.token = base::Secret(options.token);
    out.token_file.clear();
  }
  return out;
}

} // namespace

AccessEnvironment AccessEnvironment::of_process() {
  AccessEnvironment out;
  out.kubeconfig = variable("KUBECONFIG");
  out.home = variable("HOME");
  out.service_host = variable("KUBERNETES_SERVICE_HOST");
  out.service_port = variable("KUBERNETES_SERVICE_PORT");
  out.pod_namespace = variable("POD_NAMESPACE");
  return out;
}

Result<ClusterAccess> resolve_access(const AccessOptions& options,
                                     const AccessEnvironment& environment) {
  JPROF_TRY_ASSIGN(const KubeConfig config, load(options, environment));
  JPROF_TRY_ASSIGN(Selection selection, select(config, options));
  apply_flags(options, selection.cluster, selection.user);
  const bool possible = in_cluster_possible(environment);
  ClusterAccess out;
  if (selection.cluster.server.empty() && !selection.has_cluster) {
    if (!possible) {
      return invalid("no cluster is configured: neither a kubeconfig with a current context nor a "
                     "pod's service account",
                     "set KUBECONFIG or --kubeconfig, or choose one with --context");
    }
    JPROF_TRY_ASSIGN(out, from_service_account(options, environment));
  } else {
    JPROF_TRY(check_cluster(selection.cluster, selection.context.cluster));
    JPROF_TRY(check_user(selection.user, selection.context.user));
    JPROF_TRY_ASSIGN(out, from_selection(selection));
  }
  if (!options.namespace_name.empty()) {
    out.namespace_name = options.namespace_name;
  } else if (out.namespace_name.empty()) {
    out.namespace_name = possible ? pod_namespace(environment) : "default";
  }
  return out;
}

} // namespace jprof::kube
