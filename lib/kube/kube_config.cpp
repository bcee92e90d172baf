// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/kube_config.h"

#include "lib/base/encoding.h"
#include "lib/base/file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

namespace jprof::kube {
namespace {

using base::ErrorCode;
using base::Result;
using config::YamlNode;
using Kind = config::YamlNode::Kind;

constexpr std::size_t kMaxFileBytes = 4 * 1024 * 1024;

tl::unexpected<base::Error> invalid(const std::string& path, int line, const std::string& what) {
  return base::make_failure(ErrorCode::kConfigInvalid,
                            path + " line " + std::to_string(line) + ": " + what);
}

// Reads members of one entry and resolves its paths.
class EntryReader {
 public:
  EntryReader(const YamlNode& node, const std::string& path) : node_(node), path_(path) {}

  std::string text(std::string_view key) const { return node_.string_at(key); }
  bool flag(std::string_view key) const { return node_.bool_at(key); }
  std::string file(std::string_view key) const { return resolve(text(key)); }

  // A path relative to the folder of the file that names it.
  std::string resolve(const std::string& name) const {
    const auto slash = path_.rfind('/');
    if (name.empty() || name[0] == '/' || slash == std::string::npos) {
      return name;
    }
    return std::filesystem::path(path_.substr(0, slash + 1) + name).lexically_normal().string();
  }

  // Base64 content of a "...-data" member.
  Result<std::string> data(std::string_view key) const {
    const YamlNode* value = node_.find(key);
    if (value == nullptr || value->text.empty()) {
      return std::string();
    }
    Result<std::string> decoded = base::base64_decode(value->text);
    if (!decoded) {
      return invalid(path_, value->line, std::string(key) + " is not base64");
    }
    return decoded;
  }

  std::vector<std::string> list(std::string_view key) const {
    std::vector<std::string> out;
    if (const YamlNode* value = node_.find(key)) {
      for (const YamlNode& item : value->items) {
        out.push_back(item.text);
      }
    }
    return out;
  }

  const YamlNode& node() const { return node_; }
  const std::string& path() const { return path_; }

 private:
  const YamlNode& node_;
  const std::string& path_;
};

Result<ClusterEntry> read_cluster(const EntryReader& in) {
  ClusterEntry out;
  out.server = in.text("server");
  out.tls_server_name = in.text("tls-server-name");
  out.ca_file = in.file("certificate-authority");
  JPROF_TRY_ASSIGN(out.ca_data, in.data("certificate-authority-data"));
  out.insecure = in.flag("insecure-skip-tls-verify");
  out.proxy_url = in.text("proxy-url");
  if (const YamlNode* extensions = in.node().find("extensions")) {
    for (const YamlNode& item : extensions->items) {
      const YamlNode* extension = item.find("extension");
      if (extension != nullptr && item.string_at("name") == "client.authentication.k8s.io/exec") {
        out.exec_extension = *extension;
      }
    }
  }
  return out;
}

ExecPluginEntry read_exec(const EntryReader& in) {
  ExecPluginEntry out;
  out.api_version = in.text("apiVersion");
  out.command = in.text("command");
  // A bare word is looked up in PATH; only what holds a slash is a path.
  if (out.command.find('/') != std::string::npos) {
    out.command = in.resolve(out.command);
  }
  out.arguments = in.list("args");
  if (const YamlNode* environment = in.node().find("env")) {
    for (const YamlNode& item : environment->items) {
      out.environment.emplace_back(item.string_at("name"), item.string_at("value"));
    }
  }
  out.install_hint = in.text("installHint");
  out.provide_cluster_info = in.flag("provideClusterInfo");
  out.interactive_mode = in.text("interactiveMode");
  // v1 demands it; the older versions meant this.
  if (out.interactive_mode.empty() && out.api_version != "client.authentication.k8s.io/v1") {
    out.interactive_mode = "IfAvailable";
  }
  return out;
}

Result<UserEntry> read_user(const EntryReader& in) {
  UserEntry out;
  out.certificate_file = in.file("client-certificate");
  JPROF_TRY_ASSIGN(out.certificate_data, in.data("client-certificate-data"));
  out.key_file = in.file("client-key");
  JPROF_TRY_ASSIGN(std::string key, in.data("client-key-data"));
  out.key_data = base::Secret(std::move(key));
  out.token = base::Secret(in.text("token"));
  out.token_file = in.file("tokenFile");
  out.username = in.text("username");
  out.password = base::Secret(in.text("password"));
  out.impersonation.user = in.text("as");
  out.impersonation.uid = in.text("as-uid");
  out.impersonation.groups = in.list("as-groups");
  if (const YamlNode* extra = in.node().find("as-user-extra")) {
    for (const config::YamlMember& member : extra->members) {
      out.impersonation.extra[member.key] = EntryReader(*extra, in.path()).list(member.key);
    }
  }
  const YamlNode* exec = in.node().find("exec");
  if (exec != nullptr && exec->kind == Kind::kMap) {
    out.exec = read_exec(EntryReader(*exec, in.path()));
  }
  if (const YamlNode* provider = in.node().find("auth-provider")) {
    out.auth_provider = provider->string_at("name");
  }
  return out;
}

Result<ContextEntry> read_context(const EntryReader& in) {
  return ContextEntry{in.text("cluster"), in.text("user"), in.text("namespace")};
}

// A list of {name, `member`: {...}}, as all three sections are.
template <typename Entry, typename Read>
base::Status read_section(const YamlNode& root, const std::string& path, const std::string& section,
                          const std::string& member, Read read, std::map<std::string, Entry>& out) {
  const YamlNode* list = root.find(section);
  if (list == nullptr || list->kind == Kind::kNull) {
    return {};
  }
  if (list->kind != Kind::kSequence) {
    return invalid(path, list->line, section + " must be a list");
  }
  for (const YamlNode& item : list->items) {
    if (item.kind != Kind::kMap) {
      return invalid(path, item.line, "an entry of " + section + " must be a map");
    }
    static const YamlNode kNothing;
    const YamlNode* value = item.find(member);
    auto entry = read(EntryReader(value == nullptr ? kNothing : *value, path));
    if (!entry) {
      return base::fail(std::move(entry).error());
    }
    const std::string name = item.string_at("name");
    if (!out.emplace(name, std::move(*entry)).second) {
      return invalid(path, item.line, section + " names " + base::printable(name) + " twice");
    }
  }
  return {};
}

base::Status check_kind(const YamlNode& root, const std::string& path) {
  const std::string kind = root.string_at("kind", "Config");
  const std::string version = root.string_at("apiVersion", "v1");
  if ((kind != "Config" && !kind.empty()) || (version != "v1" && !version.empty())) {
    return invalid(
        path, 1, "not a kubeconfig but " + base::printable(version) + " " + base::printable(kind));
  }
  return {};
}

bool missing(const base::Error& error) {
  return error.os_errno == ENOENT;
}

} // namespace

Result<KubeConfig> parse_kube_config(std::string_view text, const std::string& path) {
  JPROF_TRY_ASSIGN(const YamlNode root, config::parse_yaml(text, path));
  KubeConfig out;
  if (root.kind == Kind::kNull) {
    return out;
  }
  if (root.kind != Kind::kMap) {
    return invalid(path, root.line, "not a kubeconfig");
  }
  JPROF_TRY(check_kind(root, path));
  out.current_context = root.string_at("current-context");
  JPROF_TRY(read_section(root, path, "clusters", "cluster", read_cluster, out.clusters));
  JPROF_TRY(read_section(root, path, "users", "user", read_user, out.users));
  JPROF_TRY(read_section(root, path, "contexts", "context", read_context, out.contexts));
  return out;
}

void merge_kube_config(KubeConfig& into, const KubeConfig& from) {
  if (into.current_context.empty()) {
    into.current_context = from.current_context;
  }
  into.clusters.insert(from.clusters.begin(), from.clusters.end());
  into.users.insert(from.users.begin(), from.users.end());
  into.contexts.insert(from.contexts.begin(), from.contexts.end());
}

Result<KubeConfig> load_kube_config_file(const std::string& path) {
  base::Result<std::string> text = base::read_file(path, kMaxFileBytes);
  if (!text) {
    base::Error error = std::move(text).error();
    error.code = ErrorCode::kConfigInvalid;
    return base::fail(std::move(error).with_context("kubeconfig"));
  }
  return parse_kube_config(*text, path);
}

Result<KubeConfig> load_kube_config_list(std::string_view list) {
  KubeConfig merged;
  std::vector<std::string> seen;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    const std::string path(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (path.empty() || std::find(seen.begin(), seen.end(), path) != seen.end()) {
      continue;
    }
    seen.push_back(path);
    Result<KubeConfig> one = load_kube_config_file(path);
    if (one) {
      merge_kube_config(merged, *one);
    } else if (!missing(one.error())) {
      return one;
    }
  }
  return merged;
}

} // namespace jprof::kube
