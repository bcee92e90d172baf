// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/sidecar_config.h"

#include "lib/base/file.h"
#include "lib/config/byte_size.h"
#include "lib/config/map_reader.h"

#include <algorithm>
#include <array>
#include <utility>

namespace jprof::config {
namespace {

constexpr std::size_t kMaxBytes = 256 * 1024;
constexpr std::array<std::string_view, 12> kOperations{
    "record",   "leaveBehind", "load",        "properties", "agentProperties", "threaddump",
    "datadump", "dumpheap",    "inspectheap", "setflag",    "printflag",       "jcmd"};
constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 2> kFormats{"json", "text"};

// Settings with which each capture would be refused, or hold nothing.
void refuse_what_cannot_work(MapReader& map, const SidecarLimits& limits) {
  constexpr std::uint64_t kMinCapture = 16 * 1024; // names alone take that
  const std::string off = "; to switch captures off, leave record out of 'allow'";
  if (limits.longest_duration.count() <= 0) {
    map.refuse("longestDuration", "must be above 0" + off);
  }
  if (limits.captures_per_hour == 0) {
    map.refuse("capturesPerHour", "must be at least 1" + off);
  }
  if (limits.concurrent_captures == 0) {
    map.refuse("concurrentCaptures", "must be at least 1" + off);
  }
  if (limits.capture_bytes < kMinCapture) {
    map.refuse("captureBytes", "must be at least 16KiB: less holds no recording");
  }
}

base::Status read_limits(MapReader& root, SidecarLimits& limits) {
  auto map = root.map("limits");
  if (!map) {
    return {};
  }
  map->duration("longestDuration", limits.longest_duration);
  map->duration("shortestInterval", limits.shortest_interval);
  map->natural("capturesPerHour", limits.captures_per_hour);
  map->natural("concurrentCaptures", limits.concurrent_captures);
  map->bytes("captureBytes", limits.capture_bytes);
  map->bytes("dumpBytes", limits.dump_bytes);
  refuse_what_cannot_work(*map, limits);
  return map->finish();
}

base::Status read_spool(MapReader& root, SpoolSettings& spool) {
  auto map = root.map("spool");
  if (!map) {
    return {};
  }
  map->text("directory", spool.directory);
  map->bytes("quota", spool.quota);
  map->duration("keep", spool.keep);
  map->duration("keepDelivered", spool.keep_delivered);
  if (!spool.directory.starts_with('/')) {
    map->refuse("directory", "must be an absolute path");
  }
  return map->finish();
}

base::Status read_store(MapReader& root, std::optional<StoreSettings>& store) {
  auto map = root.map("store");
  if (!map) {
    return {};
  }
  StoreSettings settings;
  map->text("url", settings.url);
  map->text("region", settings.region);
  map->text("endpoint", settings.endpoint);
  map->boolean("pathStyle", settings.path_style);
  map->text("credentials", settings.credentials);
  map->text("caFile", settings.ca_file);
  if (settings.url.empty()) {
    map->refuse("url", "is missing: a store needs one");
  }
  store = std::move(settings);
  return map->finish();
}

base::Status read_source(MapReader& root, SourceSettings& source) {
  auto map = root.map("source");
  if (!map) {
    return {};
  }
  map->text("cluster", source.cluster);
  map->text("namespace", source.namespace_name);
  map->text("pod", source.pod);
  map->text("podUid", source.pod_uid);
  map->text("node", source.node);
  map->text("container", source.container);
  map->text("workloadKind", source.workload_kind);
  map->text("workload", source.workload);
  return map->finish();
}

base::Status read_rest(MapReader& root, SidecarConfig& config) {
  if (auto map = root.map("agent")) {
    map->text("file", config.agent_file);
    map->text("volume", config.agent_volume);
    JPROF_TRY(map->finish());
  }
  if (auto map = root.map("shutdown")) {
    map->duration("grace", config.shutdown_grace);
    JPROF_TRY(map->finish());
  }
  if (auto map = root.map("log")) {
    std::size_t level = 1;
    std::size_t format = 0;
    map->word("level", kLevels, level);
    map->word("format", kFormats, format);
    JPROF_TRY(map->finish());
    config.log_level = kLevels[level];
    config.log_format = kFormats[format];
  }
  return {};
}

void check_kind(MapReader& root) {
  std::string version;
  std::string kind;
  root.text("apiVersion", version);
  root.text("kind", kind);
  if (version != "jprof.dev/v1alpha1") {
    root.refuse("apiVersion", "must be jprof.dev/v1alpha1");
  }
  if (kind != "SidecarConfig") {
    root.refuse("kind", "must be SidecarConfig");
  }
}

} // namespace

bool is_known_operation(std::string_view word) {
  return std::find(kOperations.begin(), kOperations.end(), word) != kOperations.end();
}

base::Result<SidecarConfig> parse_sidecar_config(std::string_view text, std::string_view name) {
  JPROF_TRY_ASSIGN(const YamlNode document,
                   parse_yaml(text, name, {.bytes = kMaxBytes, .nodes = 10'000, .depth = 16}));
  SidecarConfig config;
  MapReader root(document, std::string(name), "");
  check_kind(root);
  root.texts("allow", config.allow);
  for (const std::string& word : config.allow) {
    if (!is_known_operation(word)) {
      root.refuse("allow", "names '" + word + "', which is not an operation of this version");
    }
  }
  JPROF_TRY(read_limits(root, config.limits));
  JPROF_TRY(read_spool(root, config.spool));
  JPROF_TRY(read_store(root, config.store));
  JPROF_TRY(read_source(root, config.source));
  JPROF_TRY(read_rest(root, config));
  root.text("socket", config.socket);
  JPROF_TRY(root.finish());
  return config;
}

namespace {

// File and environment together: either may set the one, and the default is the other.
base::Status check_quota(const SidecarConfig& config) {
  if (config.spool.quota >= config.limits.capture_bytes) {
    return {};
  }
  return base::make_failure(base::ErrorCode::kConfigInvalid,
                            "the spool's quota (" + format_byte_size(config.spool.quota) +
                                ") is below what one capture may take (limits.captureBytes, " +
                                format_byte_size(config.limits.capture_bytes) +
                                "): none would be accepted",
                            "raise spool.quota or JPROF_SPOOL_QUOTA, or lower limits.captureBytes");
}

} // namespace

base::Status apply_environment(SidecarConfig& config, const Environment& get) {
  const std::array<std::pair<const char*, std::string*>, 12> texts{
      {{"JPROF_SPOOL", &config.spool.directory},
       {"JPROF_SOCKET", &config.socket},
       {"JPROF_AGENT_VOLUME", &config.agent_volume},
       {"JPROF_AGENT", &config.agent_file},
       {"JPROF_CLUSTER", &config.source.cluster},
       {"JPROF_NAMESPACE", &config.source.namespace_name},
       {"JPROF_POD", &config.source.pod},
       {"JPROF_POD_UID", &config.source.pod_uid},
       {"JPROF_NODE", &config.source.node},
       {"JPROF_CONTAINER", &config.source.container},
       {"JPROF_WORKLOAD_KIND", &config.source.workload_kind},
       {"JPROF_WORKLOAD", &config.source.workload}}};
  for (const auto& [name, target] : texts) {
    const char* const value = get(name);
    if (value != nullptr && *value != '\0') {
      *target = value;
    }
  }
  const char* const quota = get("JPROF_SPOOL_QUOTA");
  if (quota != nullptr && *quota != '\0') {
    auto bytes = parse_byte_size(quota);
    if (!bytes) {
      bytes.error().code = base::ErrorCode::kConfigInvalid;
      return base::fail(std::move(bytes.error()).with_context("JPROF_SPOOL_QUOTA"));
    }
    config.spool.quota = *bytes;
  }
  return {};
}

base::Result<SidecarConfig> load_sidecar_config(const std::string& path, bool required,
                                                const Environment& get) {
  SidecarConfig config;
  auto text = base::read_file(path, kMaxBytes);
  if (text) {
    JPROF_TRY_ASSIGN(config, parse_sidecar_config(*text, path));
  } else if (required || text.error().code != base::ErrorCode::kNotFound) {
    base::Error error = std::move(text).error();
    error.code = base::ErrorCode::kConfigInvalid;
    return base::fail(
        std::move(error).with_cure("--config names a file that jprof's user may read; without it " +
                                   std::string(kSidecarConfigPath) + " is read, if it is there"));
  }
  JPROF_TRY(apply_environment(config, get));
  JPROF_TRY(check_quota(config));
  return config;
}

} // namespace jprof::config
