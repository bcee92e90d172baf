// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/kube/kube_config.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace jprof::kube {
namespace {

using base::ErrorCode;

void write(const std::string& path, std::string_view text) {
  ASSERT_TRUE(base::write_file_atomically(path, text, 0600).has_value());
}

TEST(KubeConfig, ReadsWhatAConnectionNeeds) {
  const auto config = parse_kube_config(R"(
apiVersion: v1
kind: Config
current-context: c
clusters:
- name: k
  cluster:
    server: https://k:6443
    certificate-authority-data: Y2E=
    tls-server-name: api
    proxy-url: socks5://p:1
contexts:
- name: c
  context: {cluster: k, user: u, namespace: shop}
users:
- name: u
  user:
    client-certificate: pki/u.crt
    client-key: /abs/u.key
    as: boss
    as-groups: [a, b]
    as-user-extra: {scope: [x, y]}
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: ./login
      args: [get, token]
      env: [{name: A, value: "1"}]
      provideClusterInfo: true
)",
                                        "/home/me/.kube/config");

  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->current_context, "c");
  EXPECT_EQ(config->clusters.at("k").ca_data, "ca");
  EXPECT_EQ(config->clusters.at("k").proxy_url, "socks5://p:1");
  EXPECT_EQ(config->contexts.at("c").namespace_name, "shop");
  const UserEntry& user = config->users.at("u");
  EXPECT_EQ(user.certificate_file, "/home/me/.kube/pki/u.crt");
  EXPECT_EQ(user.key_file, "/abs/u.key");
  EXPECT_EQ(user.impersonation.groups.size(), 2U);
  EXPECT_EQ(user.impersonation.extra.at("scope").size(), 2U);
  ASSERT_TRUE(user.exec.has_value());
  EXPECT_EQ(user.exec->command, "/home/me/.kube/login");
  EXPECT_EQ(user.exec->interactive_mode, "IfAvailable");
}

TEST(KubeConfig, LeavesACommandInPathAsItIs) {
  const auto config = parse_kube_config(
      "users: [{name: u, user: {exec: {command: aws, apiVersion: v}}}]", "/d/config");

  EXPECT_EQ(config->users.at("u").exec->command, "aws");
}

TEST(KubeConfig, IgnoresWhatItDoesNotKnow) {
  EXPECT_TRUE(parse_kube_config("preferences: {colors: true}\nfuture: 1\n", "f").has_value());
  EXPECT_TRUE(parse_kube_config("", "f").has_value());
  EXPECT_TRUE(parse_kube_config("clusters: null\nusers: []\n", "f").has_value());
}

TEST(KubeConfig, NamesTheLineOfWhatIsWrong) {
  const auto data = parse_kube_config(
      "clusters:\n- name: a\n  cluster:\n    certificate-authority-data: '*'\n", "f");
  const auto twice = parse_kube_config("users:\n- name: a\n- name: a\n", "f");

  EXPECT_EQ(data.error().message, "f line 4: certificate-authority-data is not base64");
  EXPECT_EQ(twice.error().message, "f line 3: users names a twice");
  EXPECT_FALSE(parse_kube_config("clusters: {a: b}\n", "f").has_value());
  EXPECT_FALSE(parse_kube_config("kind: Pod\napiVersion: v1\n", "f").has_value());
}

TEST(KubeConfig, LetsTheFirstFileWinEntryByEntry) {
  const testing::TempDir dir;
  write(dir.path() + "/a", "users: [{name: red, user: {token: one}}]\n");
  write(dir.path() + "/b", "current-context: x\n"
                           "users: [{name: red, user: {username: two}}, {name: blue, user: {}}]\n");

  const auto config =
      load_kube_config_list(dir.path() + "/a::" + dir.path() + "/missing:" + dir.path() + "/b");

  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->current_context, "x");
  EXPECT_EQ(config->users.at("red").token.reveal(), "one");
  EXPECT_EQ(config->users.at("red").username, "");
  EXPECT_TRUE(config->users.contains("blue"));
}

TEST(KubeConfig, DemandsAFileThatIsNamedAlone) {
  EXPECT_EQ(load_kube_config_file("/nonexistent/x").error().code, ErrorCode::kConfigInvalid);
  EXPECT_TRUE(load_kube_config_list("/nonexistent/x").has_value());
}

} // namespace
} // namespace jprof::kube
