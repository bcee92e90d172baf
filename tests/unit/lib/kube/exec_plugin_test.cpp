// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/json.h"
#include "lib/kube/credentials.h"
#include "lib/kube/exec_plugin.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace jprof::kube {
namespace {

using base::ErrorCode;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

ClusterAccess with_plugin(const std::string& script) {
  ClusterAccess access;
  access.server = "https://k";
  access.ca_pem = "ca";
  access.exec = ExecPluginEntry{.api_version = kV1,
                                .command = "sh",
                                .arguments = {"-c", script},
                                .environment = {{"WHO", "me"}},
                                .install_hint = "install it",
                                .interactive_mode = "Never",
                                .provide_cluster_info = true};
  return access;
}

std::string reply(const std::string& status) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
         status + "}";
}

TEST(ExecPlugin, GivesTheTokenThatTheCommandPrints) {
  const ClusterAccess access = with_plugin("printf '%s' '" + reply(R"({"token":"'$WHO'"})") + "'");

  const auto credentials = obtain_credentials(access);

  ASSERT_TRUE(credentials.has_value()) << credentials.error().message;
  EXPECT_EQ(credentials->token.reveal(), "me");
}

TEST(ExecPlugin, TellsTheCommandAboutTheCluster) {
  const ClusterAccess access = with_plugin(
      "test \"$KUBERNETES_EXEC_INFO\" && printf '%s' '" +
      reply(R"({"token":"'$(printf %s "$KUBERNETES_EXEC_INFO" | base64 -w0)'"})") + "'");

  const auto credentials = run_exec_plugin(access);

  ASSERT_TRUE(credentials.has_value()) << credentials.error().message;
  const auto info = base::parse_json(exec_info(access, false));
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ((*info)["spec"]["cluster"]["server"], "https://k");
  EXPECT_EQ((*info)["spec"]["cluster"]["certificate-authority-data"], "Y2E=");
  EXPECT_EQ((*info)["spec"]["interactive"], false);
}

// Programs are started with SIGPIPE and SIGXFSZ ignored by us; theirs they are not.
TEST(ExecPlugin, LeavesTheCommandTheSignalsThatWeIgnore) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const auto before_size = std::signal(SIGXFSZ, SIG_IGN);
  const ClusterAccess access =
      with_plugin("ignored=$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/$$/status); printf '%s' '" +
                  reply(R"({"token":"'$ignored'"})") + "'");

  const auto credentials = run_exec_plugin(access);

  std::signal(SIGPIPE, before);
  std::signal(SIGXFSZ, before_size);
  ASSERT_TRUE(credentials.has_value()) << credentials.error().message;
  const std::string token(credentials->token.reveal());
  const auto ignored = std::stoull(token, nullptr, 16);
  EXPECT_EQ(ignored & (1ULL << (SIGPIPE - 1)), 0U) << token;
  EXPECT_EQ(ignored & (1ULL << (SIGXFSZ - 1)), 0U) << token;
}

TEST(ExecPlugin, NamesTheFailureAndTheInstallHint) {
  const auto failed = run_exec_plugin(with_plugin("exit 3"));
  ClusterAccess access = with_plugin("");
  access.exec->command = "no-such-plugin-anywhere";
  const auto missing = run_exec_plugin(access);

  EXPECT_EQ(failed.error().code, ErrorCode::kUnauthenticated);
  EXPECT_EQ(failed.error().message, "credential plugin sh failed with exit code 3");
  EXPECT_EQ(failed.error().cure, "install it");
  EXPECT_NE(missing.error().message.find("not installed"), std::string::npos);
}

TEST(ExecPlugin, EndsACommandThatNeverAnswers) {
  const auto begin = std::chrono::steady_clock::now();

  const auto credentials =
      run_exec_plugin(with_plugin("exec sleep 60"), std::chrono::milliseconds(100));

  EXPECT_FALSE(credentials.has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(ExecPlugin, RefusesRepliesThatAreNoCredential) {
  EXPECT_FALSE(parse_exec_credential("", kV1).has_value());
  EXPECT_FALSE(parse_exec_credential(reply("{}"), kV1).has_value());
  EXPECT_FALSE(parse_exec_credential(reply(R"({"clientCertificateData":"x"})"), kV1).has_value());
  EXPECT_FALSE(parse_exec_credential(reply(R"({"token":"x"})"), "other/v1").has_value());
  EXPECT_TRUE(parse_exec_credential(reply(R"({"token":"x"})"), kV1).has_value());
}

} // namespace
} // namespace jprof::kube
