// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/config/sidecar_config.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <map>

namespace jprof::config {
namespace {

using namespace std::chrono_literals;

constexpr char kHead[] = "apiVersion: jprof.dev/v1alpha1\nkind: SidecarConfig\n";

std::string refusal(const std::string& rest) {
  const auto config = parse_sidecar_config(kHead + rest, "c.yaml");
  return config ? "accepted" : config.error().message;
}

TEST(SidecarConfig, WithoutContentIsTheDefault) {
  const auto config = parse_sidecar_config(kHead, "c.yaml");

  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->allow, std::vector<std::string>{"record"});
  EXPECT_EQ(config->limits.longest_duration, 10min);
  EXPECT_FALSE(config->store);
}

TEST(SidecarConfig, ReadsEveryKey) {
  const auto config = parse_sidecar_config(std::string(kHead) + R"(
allow: [record, threaddump]
limits: {longestDuration: 1m, shortestInterval: 5ms, capturesPerHour: 6, concurrentCaptures: 1, captureBytes: 8MiB}
spool: {directory: /spool, quota: 100Mi, keep: 24h, keepDelivered: 5m}
store: {url: "s3://b/p", region: r, endpoint: "https://s3:9000", pathStyle: true, credentials: /c, caFile: /ca}
source: {cluster: c1, namespace: n, pod: p, podUid: u, node: no, container: app, workloadKind: Deployment, workload: w}
agent: {file: /a.so, volume: /vol}
shutdown: {grace: 5s}
log: {level: debug, format: text}
socket: /s.sock
)",
                                           "c.yaml");

  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->allow.size(), 2U);
  EXPECT_EQ(config->limits.shortest_interval, 5ms);
  EXPECT_EQ(config->limits.capture_bytes, 8U << 20);
  EXPECT_EQ(config->spool.quota, 100U << 20);
  EXPECT_EQ(config->spool.keep_delivered, 5min);
  ASSERT_TRUE(config->store);
  EXPECT_TRUE(config->store->path_style);
  EXPECT_EQ(config->store->credentials, "/c");
  EXPECT_EQ(config->source.workload, "w");
  EXPECT_EQ(config->agent_volume, "/vol");
  EXPECT_EQ(config->shutdown_grace, 5s);
  EXPECT_EQ(config->log_level, "debug");
  EXPECT_EQ(config->socket, "/s.sock");
}

TEST(SidecarConfig, NamesTheLineOfAnUnknownKey) {
  EXPECT_EQ(refusal("spool:\n  directory: /x\n  qouta: 1MiB\n"),
            "c.yaml line 5: unknown key 'spool.qouta' (known here: directory, keep, keepDelivered, "
            "quota)");
  EXPECT_NE(refusal("stroe: {}\n").find("line 3: unknown key 'stroe'"), std::string::npos);
}

TEST(SidecarConfig, RefusesDoubleKeysAndWrongKinds) {
  EXPECT_NE(refusal("socket: a\nsocket: b\n").find("'socket' is given twice"), std::string::npos);
  EXPECT_NE(refusal("spool: 3\n").find("'spool' must be a map"), std::string::npos);
  EXPECT_NE(refusal("allow: record\n").find("'allow' must be a list"), std::string::npos);
  EXPECT_NE(refusal("limits: {longestDuration: 60}\n").find("line 3"), std::string::npos);
  EXPECT_NE(refusal("limits: {capturesPerHour: -1}\n").find("whole number"), std::string::npos);
  EXPECT_NE(refusal("allow: [recrod]\n").find("not an operation"), std::string::npos);
  EXPECT_NE(refusal("store: {region: x}\n").find("'store.url' is missing"), std::string::npos);
  EXPECT_NE(refusal("spool: {directory: relative}\n").find("absolute"), std::string::npos);
}

TEST(SidecarConfig, RefusesAnotherKindOfFile) {
  EXPECT_FALSE(parse_sidecar_config("apiVersion: jprof.dev/v1alpha1\nkind: Rules\n", "x"));
  EXPECT_FALSE(parse_sidecar_config("kind: SidecarConfig\n", "x"));
  EXPECT_FALSE(parse_sidecar_config("", "x"));
  EXPECT_FALSE(parse_sidecar_config("[1, 2]", "x"));
}

TEST(SidecarConfig, IsOverriddenByTheEnvironment) {
  const std::map<std::string, std::string> environment{
      {"JPROF_POD", "p1"}, {"JPROF_SPOOL_QUOTA", "1MiB"}, {"JPROF_NODE", ""}};
  const auto get = [&environment](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  SidecarConfig config;
  config.source.node = "from-file";

  ASSERT_TRUE(apply_environment(config, get));

  EXPECT_EQ(config.source.pod, "p1");
  EXPECT_EQ(config.source.node, "from-file");
  EXPECT_EQ(config.spool.quota, 1U << 20);
}

TEST(SidecarConfig, AbsentFileIsTheDefaultUnlessItWasNamed) {
  const auto none = [](const char*) -> const char* { return nullptr; };
  EXPECT_TRUE(load_sidecar_config("/nonexistent/x.yaml", false, none));
  const auto named = load_sidecar_config("/nonexistent/x.yaml", true, none);
  ASSERT_FALSE(named);
  EXPECT_EQ(base::exit_code(named.error().code), 2); // as the README has it for a configuration
  EXPECT_NE(named.error().cure.find("--config"), std::string::npos);
}

TEST(SidecarConfig, RefusesLimitsWithWhichNothingCouldBeCaptured) {
  EXPECT_NE(refusal("limits: {concurrentCaptures: 0}\n").find("must be at least 1"),
            std::string::npos);
  EXPECT_NE(refusal("limits:\n  capturesPerHour: 0\n").find("line 4"), std::string::npos);
  EXPECT_NE(refusal("limits: {longestDuration: 0s}\n").find("'allow'"), std::string::npos);
  EXPECT_NE(refusal("limits: {captureBytes: 1KiB}\n").find("16KiB"), std::string::npos);
  EXPECT_TRUE(parse_sidecar_config(std::string(kHead) + "limits: {captureBytes: 16KiB}\n", "c"));
}

TEST(SidecarConfig, RefusesAQuotaThatHoldsNoCaptureWhereverItIsSet) {
  const testing::TempDir folder;
  const std::string path = folder.path() + "/c.yaml";
  const auto load = [&](const std::string& text, const char* quota) {
    EXPECT_TRUE(base::write_file_atomically(path, std::string(kHead) + text, 0600));
    return load_sidecar_config(path, true, [quota](const char* name) {
      return std::string_view(name) == "JPROF_SPOOL_QUOTA" ? quota : nullptr;
    });
  };
  for (const auto& refused : {load("spool: {quota: 10KiB}\n", nullptr), load("", "10KiB"),
                              load("limits: {captureBytes: 1GiB}\n", nullptr)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, base::ErrorCode::kConfigInvalid);
    EXPECT_NE(refused.error().cure.find("captureBytes"), std::string::npos);
  }
  EXPECT_TRUE(load("spool: {quota: 10KiB}\n", "64MiB"));
}

} // namespace
} // namespace jprof::config
