// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/exec_plugin.h"

#include "lib/base/encoding.h"
#include "lib/base/json.h"
#include "lib/base/unique_fd.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <utility>
#include <vector>

extern char** environ; // NOLINT(readability-redundant-declaration): POSIX leaves it undeclared

namespace jprof::kube {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxReplyBytes = 1024 * 1024;

tl::unexpected<base::Error> refused(const ClusterAccess& access, const std::string& what) {
  const ExecPluginEntry& plugin = *access.exec;
  return base::make_failure(ErrorCode::kUnauthenticated,
                            "credential plugin " + base::printable(plugin.command) + " " + what,
                            base::printable(plugin.install_hint, 1000));
}

// An extension of the kubeconfig as the JSON that the plugin is to get.
Json to_json(const config::YamlNode& node) {
  using Kind = config::YamlNode::Kind;
  switch (node.kind) {
  case Kind::kNull:
    return nullptr;
  case Kind::kScalar: {
    if (const auto flag = node.as_bool()) {
      return *flag;
    }
    const auto number = node.plain ? base::parse_json(node.text) : base::Result<Json>(Json());
    return number && number->is_number() ? *number : Json(node.text);
  }
  case Kind::kSequence: {
    Json out = Json::array();
    for (const config::YamlNode& item : node.items) {
      out.push_back(to_json(item));
    }
    return out;
  }
  case Kind::kMap: {
    Json out = Json::object();
    for (const config::YamlMember& member : node.members) {
      out[member.key] = to_json(member.value);
    }
    return out;
  }
  }
  return nullptr;
}

// The plugin's environment: ours, its own variables over it, and what we tell it.
std::vector<std::string> environment_of(const ClusterAccess& access, bool interactive) {
  std::vector<std::pair<std::string, std::string>> own = access.exec->environment;
  own.emplace_back("KUBERNETES_EXEC_INFO", exec_info(access, interactive));
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : own) {
      replaced = replaced || text.rfind(name + "=", 0) == 0;
    }
    if (!replaced) {
      out.push_back(text);
    }
  }
  for (const auto& [name, value] : own) {
    out.push_back(name + "=" + value);
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) {
    out.push_back(word.data());
  }
  out.push_back(nullptr);
  return out;
}

struct Child {
  pid_t pid = -1;
  base::UniqueFd out;
};

// We ignore SIGPIPE and SIGXFSZ, and what is ignored stays so in a new program: one that expects to
// end when nobody reads it would not.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t to_default;
    sigemptyset(&to_default);
    sigaddset(&to_default, SIGPIPE);
    sigaddset(&to_default, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes_, &to_default);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

Result<Child> spawn(const ClusterAccess& access, bool interactive) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    return base::errno_failure(errno, "cannot create a pipe");
  }
  Child child;
  child.out.reset(ends[0]);
  const base::UniqueFd write_end(ends[1]);
  ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  SpawnActions actions;
  const SpawnAttributes attributes;
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDOUT_FILENO);
  if (!interactive) {
    posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  std::vector<std::string> words = access.exec->arguments;
  words.insert(words.begin(), access.exec->command);
  std::vector<std::string> environment = environment_of(access, interactive);
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(environment);
  const int error = ::posix_spawnp(&child.pid, words[0].c_str(), actions.get(), attributes.get(),
                                   argv.data(), envp.data());
  if (error == ENOENT) {
    return refused(access, "is not installed or not in PATH");
  }
  if (error != 0) {
    return refused(access, "cannot be started: " + base::errno_error(error, "exec").message);
  }
  return child;
}

// Everything that the child prints, until it closes its stdout or the deadline.
Result<std::string> read_reply(const ClusterAccess& access, int fd, Clock::time_point deadline) {
  std::string out;
  std::array<char, 16 * 1024> buffer{};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return refused(access, "did not answer in time");
    }
    pollfd wanted{fd, POLLIN, 0};
    if (::poll(&wanted, 1, static_cast<int>(left) + 1) <= 0) {
      continue;
    }
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return out;
    }
    out.append(buffer.data(), static_cast<std::size_t>(got));
    if (out.size() > kMaxReplyBytes) {
      return refused(access, "prints endlessly");
    }
  }
}

// Waits for the child's end; one that has printed but keeps running gets a moment, then is killed.
int reap(pid_t pid, bool kill_now) {
  int status = 0;
  for (int tries = 0; tries < 500 && !kill_now; ++tries) {
    if (::waitpid(pid, &status, WNOHANG) == pid) {
      return status;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

} // namespace

std::string exec_info(const ClusterAccess& access, bool interactive) {
  Json spec = {{"interactive", interactive}};
  if (access.exec->provide_cluster_info) {
    Json cluster = {{"server", access.server}};
    if (!access.tls_server_name.empty()) {
      cluster["tls-server-name"] = access.tls_server_name;
    }
    if (access.insecure) {
      cluster["insecure-skip-tls-verify"] = true;
    }
    if (!access.ca_pem.empty()) {
      cluster["certificate-authority-data"] = base::base64_encode(access.ca_pem);
    }
    if (!access.proxy_url.empty()) {
      cluster["proxy-url"] = access.proxy_url;
    }
    if (access.exec_extension.kind != config::YamlNode::Kind::kNull) {
      cluster["config"] = to_json(access.exec_extension);
    }
    spec["cluster"] = std::move(cluster);
  }
  return base::dump_json(
      {{"kind", "ExecCredential"}, {"apiVersion", access.exec->api_version}, {"spec", spec}});
}

Result<PluginCredentials> parse_exec_credential(std::string_view text,
                                                std::string_view api_version) {
  const auto root = base::parse_json(text);
  if (!root || !root->is_object() || base::json_string(*root, "kind") != "ExecCredential") {
    return base::make_failure(ErrorCode::kUnauthenticated, "printed no ExecCredential");
  }
  if (base::json_string(*root, "apiVersion") != api_version) {
    return base::make_failure(ErrorCode::kUnauthenticated,
                              "answered with version " +
                                  base::printable(base::json_string(*root, "apiVersion")) +
                                  ", but the kubeconfig says " + base::printable(api_version));
  }
  const Json& status = base::json_object(*root, "status");
  PluginCredentials out;
  out.token = base::Secret(base::json_string(status, "token"));
  out.client_certificate_pem = base::json_string(status, "clientCertificateData");
  out.client_key_pem = base::Secret(base::json_string(status, "clientKeyData"));
  if (out.client_certificate_pem.empty() != out.client_key_pem.empty()) {
    return base::make_failure(ErrorCode::kUnauthenticated,
                              "printed a client certificate without its key, or a key alone");
  }
  if (out.token.empty() && out.client_certificate_pem.empty()) {
    return base::make_failure(ErrorCode::kUnauthenticated,
                              "printed neither a token nor a client certificate");
  }
  return out;
}

Result<PluginCredentials> run_exec_plugin(const ClusterAccess& access,
                                          std::chrono::milliseconds timeout) {
  const ExecPluginEntry& plugin = *access.exec;
  const bool terminal = ::isatty(STDIN_FILENO) == 1;
  if (plugin.interactive_mode == "Always" && !terminal) {
    return refused(access, "needs a terminal (interactiveMode Always)");
  }
  const bool interactive = terminal && plugin.interactive_mode != "Never";
  JPROF_TRY_ASSIGN(const Child child, spawn(access, interactive));
  Result<std::string> reply = read_reply(access, child.out.get(), Clock::now() + timeout);
  const int status = reap(child.pid, !reply.has_value());
  if (!reply) {
    return base::fail(std::move(reply).error());
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return refused(access, WIFEXITED(status)
                               ? "failed with exit code " + std::to_string(WEXITSTATUS(status))
                               : "was ended by signal " + std::to_string(WTERMSIG(status)));
  }
  Result<PluginCredentials> credentials = parse_exec_credential(*reply, plugin.api_version);
  if (!credentials) {
    return refused(access, credentials.error().message);
  }
  return credentials;
}

} // namespace jprof::kube
