// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/kube_client.h"

#include "lib/base/encoding.h"
#include "lib/http/raw_connection.h"
#include "lib/kube/api_status.h"
#include "lib/kube/credentials.h"
#include "lib/kube/label_selector.h"
#include "lib/kube/quantity.h"

#include <algorithm>
#include <utility>

namespace jprof::kube {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;

constexpr std::size_t kMaxAnswerBytes = std::size_t{32} * 1024 * 1024;
constexpr int kPodsPerPage = 100;
constexpr std::size_t kMaxPods = 20'000;

// An unreachable cluster is one whatever part of the way failed.
base::Error unreachable(base::Error error, const ClusterAccess& access) {
  if (error.code == ErrorCode::kInterrupted || error.code == ErrorCode::kConfigInvalid ||
      error.code == ErrorCode::kUsage) {
    return error;
  }
  if (error.cure.empty()) {
    error.cure = "check the server and proxy of the kubeconfig's cluster \"" +
                 base::printable(access.cluster_name) + "\", the network and a VPN";
  }
  return std::move(error).with_context("cannot reach the cluster");
}

class HttpKubeClient final : public KubeClient {
 public:
  explicit HttpKubeClient(ClusterAccess access) : access_(std::move(access)) {}

  base::Status login();

  Result<Pod> get_pod(const std::string& namespace_name, const std::string& name) override;
  Result<std::vector<Pod>> list_pods(const std::string& namespace_name,
                                     const std::string& selector) override;
  Result<std::string> selector_of(const std::string& namespace_name, const std::string& resource,
                                  const std::string& name) override;
  Result<bool> may(const std::string& namespace_name, const std::string& verb,
                   const std::string& resource, const std::string& subresource) override;
  Result<MemoryUse> memory_use(const std::string& namespace_name, const std::string& pod) override;
  Result<bool> node_lacks_memory(const std::string& node) override;
  base::Status add_ephemeral_container(const Pod& pod, const EphemeralContainer& container,
                                       PatchMode mode) override;
  Result<std::unique_ptr<ExecStream>> exec(const ExecTarget& target, int wake_fd) override;
  const ClusterAccess& access() const override { return access_; }

 private:
  http::ClientOptions client_options() const;
  Result<http::Url> url_of(const std::string& path, std::string query) const;
  // What goes out besides the URL.
  struct Message {
    const char* method = "GET";
    const char* content_type = "";
    std::string body{};
  };
  Result<http::HttpResponse> send_once(const http::Url& url, const Message& message);
  Result<Json> get(const http::Url& url, const ApiAction& action) { return ask(url, {}, action); }
  Result<Json> ask(const http::Url& url, const Message& message, const ApiAction& action);
  Result<http::WebSocketOpening> open_once(const http::Url& url, int wake_fd);

  ClusterAccess access_;
  Credentials credentials_;
  std::unique_ptr<http::HttpClient> http_;
};

http::ClientOptions HttpKubeClient::client_options() const {
  http::ClientOptions out;
  out.tls.ca_pem = access_.ca_pem;
  out.tls.client_certificate_pem = credentials_.client_certificate_pem;
  out.tls.client_key_pem = credentials_.client_key_pem;
  out.tls.server_name = access_.tls_server_name;
  out.tls.verify = access_.insecure ? http::Verify::kNothing : http::Verify::kPeer;
  if (!access_.proxy_url.empty()) {
    out.proxy.kind = http::ProxyOptions::Kind::kUrl;
    // kubectl lets a SOCKS proxy look names up, whichever way the scheme is written.
    const bool socks = access_.proxy_url.rfind("socks5://", 0) == 0;
    out.proxy.url =
        base::Secret(socks ? "socks5h" + access_.proxy_url.substr(6) : access_.proxy_url);
  }
  // resolve_access keeps secrets out of an access that is not encrypted (kubectl proxy's port).
  out.plain_http = http::PlainHttp::kAllow;
  out.connect_timeout = std::chrono::seconds(10);
  out.user_agent = "kubectl-jprof/" JPROF_VERSION;
  return out;
}

base::Status HttpKubeClient::login() {
  JPROF_TRY_ASSIGN(credentials_, obtain_credentials(access_));
  JPROF_TRY_ASSIGN(http_, http::make_curl_http_client(client_options()));
  return {};
}

Result<http::Url> HttpKubeClient::url_of(const std::string& path, std::string query) const {
  Result<http::Url> url = http::parse_url(access_.server);
  if (!url) {
    base::Error error = std::move(url).error();
    error.code = ErrorCode::kConfigInvalid;
    return base::fail(std::move(error).with_context("the cluster's server"));
  }
  url->path = (url->path == "/" ? "" : url->path) + path;
  url->query = std::move(query);
  return url;
}

Result<http::HttpResponse> HttpKubeClient::send_once(const http::Url& url, const Message& message) {
  http::HttpRequest request;
  request.url = url;
  request.response_limit_bytes = kMaxAnswerBytes;
  request.total_timeout = std::chrono::seconds(60);
  JPROF_TRY_ASSIGN(request.headers, request_headers(access_, credentials_));
  request.headers.push_back({"Accept", "application/json"});
  const http::MemoryBody content(message.body);
  request.method = message.method;
  if (!message.body.empty()) {
    request.body = &content;
    request.headers.push_back({"Content-Type", message.content_type});
  }
  Result<http::HttpResponse> response = http_->send(request);
  if (!response) {
    return base::fail(unreachable(std::move(response).error(), access_));
  }
  return response;
}

Result<Json> HttpKubeClient::ask(const http::Url& url, const Message& message,
                                 const ApiAction& action) {
  JPROF_TRY_ASSIGN(http::HttpResponse response, send_once(url, message));
  if (response.status == 401 && (access_.exec || !access_.token_file.empty())) {
    // The plugin's cached token, or the file's, may have expired in the meantime.
    JPROF_TRY(login());
    JPROF_TRY_ASSIGN(response, send_once(url, message));
  }
  if (!response.ok()) {
    return base::fail(api_error(response.status, response.body, action));
  }
  Result<Json> object = base::parse_json(response.body, {.bytes = kMaxAnswerBytes});
  if (!object) {
    return base::make_failure(ErrorCode::kProtocol,
                              "the server's answer is not JSON: " + object.error().message,
                              "is this the address of a Kubernetes API server?");
  }
  return object;
}

Result<Pod> HttpKubeClient::get_pod(const std::string& namespace_name, const std::string& name) {
  JPROF_TRY(check_name("namespace", namespace_name));
  JPROF_TRY(check_name("pod", name));
  JPROF_TRY_ASSIGN(const http::Url url,
                   url_of("/api/v1/namespaces/" + namespace_name + "/pods/" + name, {}));
  JPROF_TRY_ASSIGN(const Json object, get(url, {"get", "pods", namespace_name}));
  return parse_pod(object);
}

Result<std::vector<Pod>> HttpKubeClient::list_pods(const std::string& namespace_name,
                                                   const std::string& selector) {
  JPROF_TRY(check_name("namespace", namespace_name));
  std::vector<Pod> out;
  std::string next;
  do {
    std::string query = "limit=" + std::to_string(kPodsPerPage);
    if (!selector.empty()) {
      query += "&labelSelector=" + base::percent_encode(selector);
    }
    if (!next.empty()) {
      query += "&continue=" + base::percent_encode(next);
    }
    JPROF_TRY_ASSIGN(const http::Url url,
                     url_of("/api/v1/namespaces/" + namespace_name + "/pods", std::move(query)));
    JPROF_TRY_ASSIGN(const Json list, get(url, {"list", "pods", namespace_name}));
    for (const Json& item : base::json_array(list, "items")) {
      JPROF_TRY_ASSIGN(Pod pod, parse_pod(item));
      out.push_back(std::move(pod));
    }
    next = base::json_string(base::json_object(list, "metadata"), "continue");
  } while (!next.empty() && out.size() < kMaxPods);
  return out;
}

Result<std::string> HttpKubeClient::selector_of(const std::string& namespace_name,
                                                const std::string& resource,
                                                const std::string& name) {
  JPROF_TRY(check_name("namespace", namespace_name));
  JPROF_TRY(check_name(resource, name));
  const std::string group = resource == "jobs" ? "batch" : "apps";
  JPROF_TRY_ASSIGN(const http::Url url, url_of("/apis/" + group + "/v1/namespaces/" +
                                                   namespace_name + "/" + resource + "/" + name,
                                               {}));
  JPROF_TRY_ASSIGN(const Json object, get(url, {"get", resource + "." + group, namespace_name}));
  const Json& selector = base::json_object(base::json_object(object, "spec"), "selector");
  return selector_text(selector);
}

Result<bool> HttpKubeClient::may(const std::string& namespace_name, const std::string& verb,
                                 const std::string& resource, const std::string& subresource) {
  JPROF_TRY_ASSIGN(const http::Url url,
                   url_of("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {}));
  const std::string body = base::dump_json({{"apiVersion", "authorization.k8s.io/v1"},
                                            {"kind", "SelfSubjectAccessReview"},
                                            {"spec",
                                             {{"resourceAttributes",
                                               {{"namespace", namespace_name},
                                                {"verb", verb},
                                                {"resource", resource},
                                                {"subresource", subresource}}}}}});
  JPROF_TRY_ASSIGN(const Json answer, ask(url, {"POST", "application/json", body},
                                          {"create", "selfsubjectaccessreviews", namespace_name}));
  return base::json_bool(base::json_object(answer, "status"), "allowed");
}

Result<MemoryUse> HttpKubeClient::memory_use(const std::string& namespace_name,
                                             const std::string& pod) {
  JPROF_TRY(check_name("namespace", namespace_name));
  JPROF_TRY(check_name("pod", pod));
  JPROF_TRY_ASSIGN(
      const http::Url url,
      url_of("/apis/metrics.k8s.io/v1beta1/namespaces/" + namespace_name + "/pods/" + pod, {}));
  JPROF_TRY_ASSIGN(const Json object, get(url, {"get", "pods.metrics.k8s.io", namespace_name}));
  MemoryUse out;
  for (const Json& one : base::json_array(object, "containers")) {
    const auto bytes = parse_bytes(base::json_string(base::json_object(one, "usage"), "memory"));
    if (bytes) {
      out[base::json_string(one, "name")] = *bytes;
    }
  }
  return out;
}

Result<bool> HttpKubeClient::node_lacks_memory(const std::string& node) {
  JPROF_TRY(check_name("node", node));
  JPROF_TRY_ASSIGN(const http::Url url, url_of("/api/v1/nodes/" + node, {}));
  JPROF_TRY_ASSIGN(const Json object, get(url, {"get", "nodes", ""}));
  const Json& conditions = base::json_array(base::json_object(object, "status"), "conditions");
  return std::any_of(conditions.begin(), conditions.end(), [](const Json& one) {
    return base::json_string(one, "type") == "MemoryPressure" &&
           base::json_string(one, "status") == "True";
  });
}

base::Status HttpKubeClient::add_ephemeral_container(const Pod& pod,
                                                     const EphemeralContainer& container,
                                                     PatchMode mode) {
  JPROF_TRY(check_name("namespace", pod.namespace_name));
  JPROF_TRY(check_name("pod", pod.name));
  JPROF_TRY_ASSIGN(const http::Url url,
                   url_of("/api/v1/namespaces/" + pod.namespace_name + "/pods/" + pod.name +
                              "/ephemeralcontainers",
                          mode == PatchMode::kVerdictOnly ? "dryRun=All" : ""));
  JPROF_TRY(ask(url,
                {"PATCH", "application/strategic-merge-patch+json",
                 base::dump_json(ephemeral_patch(pod, container))},
                {"patch", "pods/ephemeralcontainers", pod.namespace_name}));
  return {};
}

Result<http::WebSocketOpening> HttpKubeClient::open_once(const http::Url& url, int wake_fd) {
  auto connection = http::open_raw_connection(client_options(), url);
  if (!connection) {
    return base::fail(unreachable(std::move(connection).error(), access_));
  }
  http::WebSocketRequest request;
  request.url = url;
  request.protocols = {"v5.channel.k8s.io", "v4.channel.k8s.io"};
  request.wake_fd = wake_fd;
  request.timeout = std::chrono::seconds(30);
  JPROF_TRY_ASSIGN(request.headers, request_headers(access_, credentials_));
  request.headers.push_back({"User-Agent", "kubectl-jprof/" JPROF_VERSION});
  return http::open_websocket(std::move(*connection), request);
}

Result<std::unique_ptr<ExecStream>> HttpKubeClient::exec(const ExecTarget& target, int wake_fd) {
  JPROF_TRY(check_name("namespace", target.namespace_name));
  JPROF_TRY(check_name("pod", target.pod));
  std::string query;
  for (const std::string& word : target.command) {
    query += "command=" + base::percent_encode(word) + "&";
  }
  query += "container=" + base::percent_encode(target.container) +
           "&stdin=true&stdout=true&stderr=true&tty=false";
  JPROF_TRY_ASSIGN(const http::Url url, url_of("/api/v1/namespaces/" + target.namespace_name +
                                                   "/pods/" + target.pod + "/exec",
                                               std::move(query)));
  JPROF_TRY_ASSIGN(http::WebSocketOpening opening, open_once(url, wake_fd));
  if (opening.refusal.status == 401 && (access_.exec || !access_.token_file.empty())) {
    JPROF_TRY(login());
    JPROF_TRY_ASSIGN(opening, open_once(url, wake_fd));
  }
  if (opening.socket == nullptr) {
    // Until 1.34 the server checks get, from 1.35 on create as well: both are what a role needs.
    return base::fail(api_error(opening.refusal.status, opening.refusal.body,
                                {"get,create", "pods/exec", target.namespace_name}));
  }
  return std::make_unique<ExecStream>(std::move(opening.socket));
}

} // namespace

Result<std::unique_ptr<KubeClient>> make_kube_client(ClusterAccess access) {
  auto client = std::make_unique<HttpKubeClient>(std::move(access));
  JPROF_TRY(client->login());
  return std::unique_ptr<KubeClient>(std::move(client));
}

base::Status check_name(std::string_view what, std::string_view name) {
  const bool good =
      !name.empty() && name.size() <= 253 && name.front() != '-' && name.front() != '.' &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
      });
  if (!good) {
    return base::make_failure(ErrorCode::kUsage,
                              std::string(what) + " name \"" + base::printable(name) +
                                  "\" cannot be one",
                              "lower-case letters, digits, '-' and '.'");
  }
  return {};
}

} // namespace jprof::kube
