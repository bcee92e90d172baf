// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/credentials.h"

#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/kube/exec_plugin.h"

#include <utility>

namespace jprof::kube {
namespace {

constexpr std::size_t kMaxTokenBytes = 64 * 1024;

std::string without_line_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

// Header names are tokens of RFC 9110; other bytes of a key travel percent-encoded.
std::string extra_header(const std::string& key) {
  return "Impersonate-Extra-" + base::percent_encode(key);
}

} // namespace

base::Result<Credentials> obtain_credentials(const ClusterAccess& access) {
  Credentials out;
  out.token = access.token;
  out.client_certificate_pem = access.client_certificate_pem;
  out.client_key_pem = access.client_key_pem;
  if (!access.token_file.empty()) {
    base::Result<std::string> token = base::read_file(access.token_file, kMaxTokenBytes);
    if (token) {
      out.token = base::Secret(without_line_end(std::move(*token)));
    } else if (out.token.empty()) {
      base::Error error = std::move(token).error();
      error.code = base::ErrorCode::kConfigInvalid;
      return base::fail(std::move(error).with_context("token file"));
    }
  }
  // Like kubectl: an explicit token or password makes the plugin needless.
  if (access.exec && out.token.empty() && access.username.empty()) {
    JPROF_TRY_ASSIGN(PluginCredentials plugin, run_exec_plugin(access));
    out.token = std::move(plugin.token);
    if (!plugin.client_certificate_pem.empty()) {
      out.client_certificate_pem = plugin.client_certificate_pem;
      out.client_key_pem = std::move(plugin.client_key_pem);
    }
  }
  return out;
}

base::Result<std::vector<http::Header>> request_headers(const ClusterAccess& access,
                                                        const Credentials& credentials) {
  std::vector<http::Header> out;
  if (!credentials.token.empty()) {
    out.push_back({"Authorization", "Bearer " + std::string(credentials.token.reveal())});
  } else if (!access.username.empty() || !access.password.empty()) {
    const base::Secret pair(access.username + ":" + std::string(access.password.reveal()));
    out.push_back({"Authorization", "Basic " + base::base64_encode(pair.reveal())});
  }
  const Impersonation& as = access.impersonation;
  if (!as.user.empty()) {
    out.push_back({"Impersonate-User", as.user});
  }
  if (!as.uid.empty()) {
    out.push_back({"Impersonate-Uid", as.uid});
  }
  for (const std::string& group : as.groups) {
    out.push_back({"Impersonate-Group", group});
  }
  for (const auto& [key, values] : as.extra) {
    for (const std::string& value : values) {
      out.push_back({extra_header(key), value});
    }
  }
  return out;
}

} // namespace jprof::kube
