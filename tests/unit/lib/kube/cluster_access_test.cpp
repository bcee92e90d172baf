// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/kube/cluster_access.h"
#include "lib/kube/credentials.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace jprof::kube {
namespace {

using base::ErrorCode;

// A home with one kubeconfig and, on demand, a service account.
class ClusterAccessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    environment_.home = dir_.path();
    environment_.service_account = dir_.path() + "/account";
    ASSERT_TRUE(base::make_directories(dir_.path() + "/.kube", 0700).has_value());
    ASSERT_TRUE(base::make_directories(environment_.service_account, 0700).has_value());
  }

  void write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(base::write_file_atomically(dir_.path() + "/" + name, text, 0600).has_value());
  }
  // One cluster, user and context around these entries.
  void write_config(const std::string& cluster, const std::string& user,
                    const std::string& more_context = "") {
    write(".kube/config", "current-context: c\n"
                          "contexts: [{name: c, context: {cluster: k, user: u" +
                              more_context + "}}]\nclusters: [{name: k, cluster: {" + cluster +
                              "}}]\nusers: [{name: u, user: {" + user + "}}]\n");
  }
  void become_a_pod() {
    environment_.service_host = "10.96.0.1";
    environment_.service_port = "443";
    write("account/token", "pod-token\n");
    write("account/ca.crt", "pod-ca");
    write("account/namespace", "jobs\n");
  }
  std::string refusal(const AccessOptions& options = {}) {
    const auto access = resolve_access(options, environment_);
    EXPECT_FALSE(access.has_value());
    EXPECT_EQ(access.error().code, ErrorCode::kConfigInvalid);
    return access.error().message;
  }

  testing::TempDir dir_;
  AccessEnvironment environment_;
};

TEST_F(ClusterAccessTest, ReadsFilesAndPrefersData) {
  write("ca.pem", "from file");
  write_config("server: 'https://k:6443/', certificate-authority: ../ca.pem", "token: t",
               ", namespace: shop");

  const auto access = resolve_access({}, environment_);

  ASSERT_TRUE(access.has_value()) << access.error().message;
  EXPECT_EQ(access->server, "https://k:6443");
  EXPECT_EQ(access->ca_pem, "from file");
  EXPECT_EQ(access->namespace_name, "shop");
  EXPECT_EQ(access->token.reveal(), "t");
  EXPECT_FALSE(access->in_cluster);
}

TEST_F(ClusterAccessTest, LetsFlagsWin) {
  write_config("server: 'https://k', tls-server-name: old, certificate-authority-data: Y2E=",
               "token: t", ", namespace: shop");

  const auto access = resolve_access(
      {.namespace_name = "other", .server = "https://elsewhere", .token = "mine", .insecure = true},
      environment_);

  ASSERT_TRUE(access.has_value()) << access.error().message;
  EXPECT_EQ(access->server, "https://elsewhere");
  EXPECT_EQ(access->tls_server_name, "");
  EXPECT_EQ(access->token.reveal(), "mine");
  EXPECT_EQ(access->namespace_name, "other");
  EXPECT_TRUE(access->insecure);
  EXPECT_EQ(access->ca_pem, "");
}

TEST_F(ClusterAccessTest, KeepsSecretsOutOfAPlainConnection) {
  write_config("server: 'http://localhost:8001'", "token: t, username: a");

  // A token and a password together are refused first.
  EXPECT_NE(refusal().find("both a token and a password"), std::string::npos);

  write_config("server: 'localhost:8001'", "token: t");
  const auto access = resolve_access({}, environment_);
  ASSERT_TRUE(access.has_value());
  EXPECT_EQ(access->server, "http://localhost:8001");
  EXPECT_EQ(access->token.reveal(), "");

  // Nothing that is said about TLS makes an address without a scheme speak it.
  write_config("server: 'k:6443', certificate-authority-data: Y2E=", "token: t");
  EXPECT_EQ(resolve_access({}, environment_)->server, "http://k:6443");
  EXPECT_EQ(resolve_access({}, environment_)->token.reveal(), "");
}

TEST_F(ClusterAccessTest, BecomesItsPodWhereThereIsNoKubeconfig) {
  become_a_pod();

  const auto access = resolve_access({}, environment_);

  ASSERT_TRUE(access.has_value()) << access.error().message;
  EXPECT_TRUE(access->in_cluster);
  EXPECT_EQ(access->server, "https://10.96.0.1:443");
  EXPECT_EQ(access->ca_pem, "pod-ca");
  EXPECT_EQ(access->namespace_name, "jobs");
  const auto credentials = obtain_credentials(*access);
  ASSERT_TRUE(credentials.has_value());
  EXPECT_EQ(credentials->token.reveal(), "pod-token");
}

TEST_F(ClusterAccessTest, ReadsTheTokenFileAgainAtEachUse) {
  become_a_pod();
  const auto access = resolve_access({}, environment_);
  ASSERT_TRUE(access.has_value());

  write("account/token", "rotated");

  EXPECT_EQ(obtain_credentials(*access)->token.reveal(), "rotated");
}

TEST_F(ClusterAccessTest, BracketsAnIpv6Service) {
  become_a_pod();
  environment_.service_host = "fd00::1";

  EXPECT_EQ(resolve_access({}, environment_)->server, "https://[fd00::1]:443");
}

TEST_F(ClusterAccessTest, SaysWhatIsMissing) {
  EXPECT_NE(refusal().find("no cluster is configured"), std::string::npos);

  write_config("server: 'https://k'", "token: t");
  EXPECT_EQ(refusal({.context = "nope"}), "context \"nope\" does not exist in the kubeconfig");
  EXPECT_EQ(refusal({.cluster = "nope"}), "cluster \"nope\" does not exist in the kubeconfig");
  EXPECT_EQ(refusal({.user = "nope"}), "user \"nope\" does not exist in the kubeconfig");
  EXPECT_NE(refusal({.kubeconfig = "/nonexistent"}).find("/nonexistent"), std::string::npos);

  write_config("insecure-skip-tls-verify: true", "token: t");
  EXPECT_EQ(refusal(), "no server found for cluster \"k\"");
}

TEST_F(ClusterAccessTest, RefusesWhatContradictsItself) {
  write_config("server: 'https://k', insecure-skip-tls-verify: true, "
               "certificate-authority-data: Y2E=",
               "token: t");
  EXPECT_NE(refusal().find("both a certificate authority and insecure"), std::string::npos);

  write_config("server: 'https://k', certificate-authority: ca, certificate-authority-data: Y2E=",
               "token: t");
  EXPECT_NE(refusal().find("both as a file and as data"), std::string::npos);

  write_config("server: 'https://k'", "client-certificate-data: Y2E=");
  EXPECT_NE(refusal().find("without a client-key"), std::string::npos);

  write_config("server: 'https://k'", "as-groups: [a]");
  EXPECT_NE(refusal().find("without a user"), std::string::npos);

  write_config("server: 'https://k'", "auth-provider: {name: gcp}");
  EXPECT_NE(refusal().find("no longer exists"), std::string::npos);

  write_config("server: 'https://k'",
               "exec: {command: x, apiVersion: client.authentication.k8s.io/v1}");
  EXPECT_NE(refusal().find("interactiveMode"), std::string::npos);
}

TEST_F(ClusterAccessTest, WritesImpersonationHeaders) {
  ClusterAccess access;
  access.impersonation = {"boss", "7", {"a", "b"}, {{"acme.com/x y", {"1"}}}};

  const auto headers = request_headers(access, {.token = base::Secret("t")});

  ASSERT_TRUE(headers.has_value());
  EXPECT_EQ(http::find_header(*headers, "Authorization"), "Bearer t");
  EXPECT_EQ(http::find_header(*headers, "Impersonate-User"), "boss");
  EXPECT_EQ(http::find_header(*headers, "Impersonate-Uid"), "7");
  EXPECT_EQ(http::find_header(*headers, "Impersonate-Extra-acme.com%2Fx%20y"), "1");
  EXPECT_EQ(headers->size(), 6U);
}

} // namespace
} // namespace jprof::kube
