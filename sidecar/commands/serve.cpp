// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/serve.h"

#include "lib/base/duration.h"
#include "lib/log/log.h"
#include "sidecar/serve/places.h"
#include "sidecar/serve/socket.h"
#include "sidecar/serve/supervisor.h"
#include "sidecar/serve/upload.h"

#include <memory>

namespace jprof::sidecar {
namespace {

struct Options {
  std::string config;
  std::string idle_exit;
  bool check = false;
};

void configure_log(const config::SidecarConfig& config) {
  const auto level = config.log_level == "debug"     ? log::Level::kDebug
                     : config.log_level == "warning" ? log::Level::kWarning
                     : config.log_level == "error"   ? log::Level::kError
                                                     : log::Level::kInfo;
  log::configure(level, config.log_format == "text" ? log::Format::kText : log::Format::kJson);
}

base::Result<int> run(const Options& options) {
  serve::ServeOptions serve_options;
  if (!options.idle_exit.empty()) {
    JPROF_TRY_ASSIGN(serve_options.idle_exit, base::parse_duration(options.idle_exit));
  }
  JPROF_TRY_ASSIGN(config::SidecarConfig config, serve::read_config(options.config));
  if (config.store) { // what can be said about it without the store is said before anything starts
    JPROF_TRY(serve::open_store(*config.store, {}));
  }
  if (options.check) {
    return 0;
  }
  configure_log(config);
  serve::choose_spool(config);
  const std::string where = serve::socket_path(config);
  const std::string spool = config.spool.directory;
  JPROF_TRY_ASSIGN(serve::Supervisor supervisor,
                   serve::Supervisor::create(std::move(config), serve_options));
  log::info("jprof " JPROF_VERSION " listens at " + where + ", spool " + spool);
  supervisor.run();
  log::info("jprof ends");
  return 0;
}

} // namespace

void add_serve(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& command =
      program.add({"serve", "Own captures and the spool; what the jprof container runs",
                   "  jprof serve\n"
                   "  jprof serve --config /etc/jprof/config.yaml --check\n"
                   "  jprof serve --idle-exit 10m      # an ephemeral container\n"},
                  [options] { return run(*options); });
  command.add_option("--config", options->config,
                     "SidecarConfig to read (default /etc/jprof/config.yaml, if it is there)");
  command.add_option("--idle-exit", options->idle_exit, "End after this long without a caller");
  command.add_flag("--check", options->check, "Only read the configuration and say what is wrong");
}

} // namespace jprof::sidecar
