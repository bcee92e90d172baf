// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/spool.h"

#include "lib/base/encoding.h"
#include "lib/base/timestamp.h"
#include "lib/capture/bundle.h"
#include "sidecar/sandbox/sandbox.h"
#include "sidecar/serve/places.h"
#include "sidecar/spool/spool.h"

#include <cstdio>
#include <memory>
#include <unistd.h>

namespace jprof::sidecar {
namespace {

struct Options {
  std::string directory;
  std::string config;
};

base::Result<spool::Spool> open_spool(const Options& options) {
  JPROF_TRY_ASSIGN(config::SidecarConfig config, serve::read_config(options.config));
  if (!options.directory.empty()) {
    config.spool.directory = options.directory;
  } else if (config.spool.directory == serve::kDefaultSpool &&
             ::access(serve::kDefaultSpool, F_OK) != 0) {
    config.spool.directory = serve::kFallbackSpool;
  }
  return spool::Spool::look(config.spool);
}

base::Json counts_json(const spool::LedgerContent& counts) {
  using spool::OpenState;
  return {{"accepted", counts.accepted},
          {"recording", counts.count_open(OpenState::kRecording)},
          {"pending", counts.count_open(OpenState::kSealed)},
          {"quarantined", counts.count_open(OpenState::kQuarantined)},
          {"delivered", counts.delivered},
          {"expired", counts.expired},
          {"failedBeforeSeal", counts.failed},
          {"abandoned", counts.abandoned},
          {"balanced", counts.balanced()}};
}

base::Json entry_json(const spool::Entry& entry) {
  base::Json json = {{"id", entry.id},
                     {"state", spool::place_word(entry.place)},
                     {"bytes", entry.bytes},
                     {"changed", base::format_utc(entry.changed)}};
  if (const auto manifest = capture::read_manifest(entry.directory)) {
    json["pod"] = manifest->source.pod;
    json["trigger"] = manifest->trigger;
    json["partial"] = manifest->partial;
  }
  return json;
}

void print_table(const std::vector<spool::Entry>& entries, const base::Json& counts) {
  for (const spool::Entry& entry : entries) {
    const auto manifest = capture::read_manifest(entry.directory);
    std::printf(
        "%-10s  %s  %10llu  %s  %s%s\n", std::string(spool::place_word(entry.place)).c_str(),
        base::format_utc(entry.changed).c_str(), static_cast<unsigned long long>(entry.bytes),
        entry.id.c_str(), manifest ? base::printable(manifest->source.pod, 80).c_str() : "",
        manifest && manifest->partial ? " (partial)" : "");
  }
  std::string line;
  for (const auto& [name, value] : counts.items()) {
    line += (line.empty() ? "" : ", ") + name + " " + value.dump();
  }
  std::printf("%s\n", line.c_str());
}

base::Result<int> run(const Options& options, bool as_json) {
  sandbox::fence_in(sandbox::Network::kNone);
  JPROF_TRY_ASSIGN(const spool::Spool spool, open_spool(options));
  JPROF_TRY_ASSIGN(const spool::LedgerContent content, spool.counts());
  const base::Json counts = counts_json(content);
  const std::vector<spool::Entry> entries = spool.list();
  if (!as_json) {
    print_table(entries, counts);
    return 0;
  }
  base::Json json = {{"ok", true}, {"directory", spool.directory()}, {"counts", counts}};
  json["captures"] = base::Json::array();
  for (const spool::Entry& entry : entries) {
    json["captures"].push_back(entry_json(entry));
  }
  std::printf("%s\n", base::dump_json(json, 2).c_str());
  return 0;
}

} // namespace

void add_spool(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  cli::Command command =
      program.add({"spool", "Show the captures that wait in the spool, and their totals",
                   "  jprof spool\n"
                   "  jprof spool --directory /var/lib/jprof/spool --json\n"},
                  [options, &program] { return run(*options, program.json()); });
  command.option("--directory", options->directory, "The spool (default: the configured one)");
  command.option("--config", options->config, "SidecarConfig to read");
}

} // namespace jprof::sidecar
