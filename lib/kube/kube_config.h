// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/secret.h"
#include "lib/config/yaml_reader.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What kubeconfig files say, merged by the rules of kubernetes.io/docs/concepts/configuration/
// organize-cluster-access-kubeconfig. Paths in it are absolute or relative to the working directory
// (a file's own relative paths are resolved against its folder). What it means for one connection
// is lib/kube/cluster_access.h.
namespace jprof::kube {

struct ClusterEntry {
  std::string server;
  std::string tls_server_name;
  std::string ca_file;
  std::string ca_data; // PEM, decoded
  bool insecure = false;
  std::string proxy_url;
  config::YamlNode exec_extension; // extension client.authentication.k8s.io/exec, for its plugin
};

// A command that prints credentials (client.authentication.k8s.io).
struct ExecPluginEntry {
  std::string api_version{};
  std::string command{};
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string install_hint{};
  std::string interactive_mode{}; // Never, IfAvailable, Always
  bool provide_cluster_info = false;
};

struct Impersonation {
  std::string user;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
};

struct UserEntry {
  std::string certificate_file;
  std::string certificate_data; // PEM, decoded
  std::string key_file;
  base::Secret key_data; // PEM, decoded
  base::Secret token;
  std::string token_file;
  std::string username;
  base::Secret password;
  Impersonation impersonation;
  std::optional<ExecPluginEntry> exec;
  std::string auth_provider; // name of a built-in provider, which we do not have
};

struct ContextEntry {
  std::string cluster;
  std::string user;
  std::string namespace_name;
};

struct KubeConfig {
  std::string current_context;
  std::map<std::string, ClusterEntry> clusters;
  std::map<std::string, UserEntry> users;
  std::map<std::string, ContextEntry> contexts;
};

// `path` names the file in messages and is the base of its relative paths. Errors are
// kConfigInvalid with the line.
base::Result<KubeConfig> parse_kube_config(std::string_view text, const std::string& path);

// Adds what `into` does not have yet: the first file that names a cluster, user, context or current
// context wins, whole entry by whole entry.
void merge_kube_config(KubeConfig& into, const KubeConfig& from);

// The files of a KUBECONFIG-like list (separated by ':', empty and repeated ones dropped), merged;
// files that do not exist are skipped.
base::Result<KubeConfig> load_kube_config_list(std::string_view list);
// One file, which must exist.
base::Result<KubeConfig> load_kube_config_file(const std::string& path);

} // namespace jprof::kube
