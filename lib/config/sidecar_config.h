// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::config {

inline constexpr char kSidecarConfigPath[] = "/etc/jprof/config.yaml";

// What one caller may ask for, whoever it is.
struct SidecarLimits {
  std::chrono::nanoseconds longest_duration{std::chrono::minutes(10)};
  std::chrono::nanoseconds shortest_interval{std::chrono::milliseconds(1)};
  std::uint64_t captures_per_hour = 60;
  std::uint64_t concurrent_captures = 1;          // of different JVMs; they share the memory limit
  std::uint64_t capture_bytes = 64 * 1024 * 1024; // of one capture with its derived files
  std::uint64_t dump_bytes = std::uint64_t{16} << 30U; // of one heap dump
};

struct SpoolSettings {
  std::string directory = "/var/lib/jprof/spool";
  // At most half of the emptyDir's sizeLimit: beyond the latter the kubelet evicts the whole pod.
  std::uint64_t quota = 200 * 1024 * 1024;
  std::chrono::nanoseconds keep{std::chrono::hours(7 * 24)};      // until it is given up
  std::chrono::nanoseconds keep_delivered{std::chrono::hours(1)}; // after a confirmed delivery
};

// A store that the sidecar delivers to by itself. Credentials are in a file, never in here.
struct StoreSettings {
  std::string url; // s3://bucket/prefix, file:///directory
  std::string region;
  std::string endpoint; // https://host:port of an S3 server that is not AWS
  bool path_style = false;
  std::string credentials; // a file in AWS's form of shared credentials, or a directory of keys
  std::string ca_file;
};

// Where this pod is, for manifests and keys; a request's own words fill what is empty here.
struct SourceSettings {
  std::string cluster;
  std::string namespace_name;
  std::string pod;
  std::string pod_uid;
  std::string node;
  std::string container; // the JVM's
  std::string workload_kind;
  std::string workload;
};

// kind SidecarConfig. Its defaults are what a sidecar without a file does.
struct SidecarConfig {
  std::vector<std::string> allow{"record"};
  SidecarLimits limits;
  SpoolSettings spool;
  std::optional<StoreSettings> store;
  SourceSettings source;
  std::string socket;       // path of the Unix socket; empty: beside the spool
  std::string agent_file;   // empty: libjprof.so beside the program
  std::string agent_volume; // shared with the JVM's container at the same path; empty: none
  std::chrono::nanoseconds shutdown_grace{std::chrono::seconds(20)};
  std::string log_level = "info";  // debug, info, warning, error
  std::string log_format = "json"; // json, text
};

// A word that `allow` may hold: "record", "leaveBehind" (captures that leave something in the JVM
// for good), or a command of `jprof attach`.
bool is_known_operation(std::string_view word);

// Strict: an unknown key is an error with its line.
base::Result<SidecarConfig> parse_sidecar_config(std::string_view text, std::string_view name);

// Environment over file, as everywhere: JPROF_SPOOL, JPROF_SPOOL_QUOTA, JPROF_SOCKET,
// JPROF_AGENT_VOLUME, JPROF_AGENT, JPROF_CLUSTER, JPROF_NAMESPACE, JPROF_POD, JPROF_POD_UID,
// JPROF_NODE, JPROF_CONTAINER, JPROF_WORKLOAD_KIND, JPROF_WORKLOAD. `get` gives a variable's value
// or null.
using Environment = std::function<const char*(const char*)>;
base::Status apply_environment(SidecarConfig& config, const Environment& get);

// The file at `path` (absent: the defaults, if `required` is false), then the environment.
base::Result<SidecarConfig> load_sidecar_config(const std::string& path, bool required,
                                                const Environment& get);

} // namespace jprof::config
