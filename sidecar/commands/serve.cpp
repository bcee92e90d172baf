// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/serve.h"

#include "lib/base/duration.h"
#include "lib/log/log.h"
#include "sidecar/inject/agent_link.h"
#include "sidecar/record/capture_job.h"
#include "sidecar/serve/places.h"
#include "sidecar/serve/socket.h"
#include "sidecar/serve/supervisor.h"
#include "sidecar/serve/upload.h"

#include <csignal>
#include <cstdlib>
#include <ctime>
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

// SIGTERM and SIGINT, which are held back from now on: they end the wait for the next attempt.
sigset_t hold_ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

bool told_to_end_within(std::chrono::seconds time, const sigset_t& signals) {
  const timespec timeout{time.count(), 0};
  return ::sigtimedwait(&signals, nullptr, &timeout) > 0;
}

// The best way to the JVM: it loads the agent from a volume that both mount, and nothing is written
// into its own files. Without the volume a capture copies, so a failure is only a warning.
void fill_agent_volume(const config::SidecarConfig& config) {
  if (config.agent_volume.empty()) {
    return;
  }
  const auto fill = [&config]() -> base::Status {
    JPROF_TRY_ASSIGN(const std::string agent, record::find_agent_file(config.agent_file));
    return inject::fill_volume(agent, config.agent_volume);
  };
  const base::Status filled = fill();
  if (!filled) {
    log::warning("the agent's volume stays empty: " + filled.error().text());
  }
}

// A container that has ended makes its pod not ready, and so takes the application out of its
// Service. So once it runs, serve does not end because something is wrong: it says so, in the log
// and to its callers, and continues with what works.
base::Result<int> run_daemon(config::SidecarConfig config, const serve::ServeOptions& options) {
  configure_log(config);
  if (options.broken) {
    log::error("nothing will be recorded: " + options.broken->text());
  }
  fill_agent_volume(config);
  for (;;) {
    const base::Status chosen = serve::choose_spool(config);
    auto supervisor = chosen ? serve::Supervisor::create(config, options)
                             : base::Result<serve::Supervisor>(base::fail(chosen.error()));
    if (supervisor) {
      log::info("jprof " JPROF_VERSION " listens at " + serve::socket_path(config) + ", spool " +
                config.spool.directory);
      supervisor->run();
      break;
    }
    if (supervisor.error().code == base::ErrorCode::kBusy) {
      return base::fail(std::move(supervisor).error());
    }
    constexpr std::chrono::seconds kRetry(10);
    const sigset_t signals = hold_ending_signals();
    log::error("cannot serve, trying again in 10 s: " + supervisor.error().text());
    if (told_to_end_within(kRetry, signals)) {
      break;
    }
  }
  log::info("jprof ends");
  return 0;
}

base::Result<int> run(const Options& options) {
  serve::ServeOptions serve_options;
  if (!options.idle_exit.empty()) {
    JPROF_TRY_ASSIGN(serve_options.idle_exit, base::parse_duration(options.idle_exit));
  }
  auto config = serve::read_config(options.config);
  if (options.check) {
    JPROF_TRY_ASSIGN(const config::SidecarConfig read, std::move(config));
    if (read.store) {
      JPROF_TRY(serve::open_store(*read.store, {}));
    }
    return 0;
  }
  if (!config) {
    serve_options.broken = std::move(config).error();
    config.emplace();
    // A wrong variable is reported like a wrong file; the right ones before it count.
    static_cast<void>(
        config::apply_environment(*config, [](const char* n) { return ::getenv(n); }));
  }
  return run_daemon(std::move(*config), serve_options);
}

} // namespace

void add_serve(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  cli::Command command =
      program.add({"serve", "Manage captures and the spool; what the jprof container runs",
                   "  jprof serve\n"
                   "  jprof serve --config /etc/jprof/config.yaml --check\n"
                   "  jprof serve --idle-exit 10m      # an ephemeral container\n"},
                  [options] { return run(*options); });
  command.option("--config", options->config,
                 "SidecarConfig to read (default /etc/jprof/config.yaml, if it is there)");
  command.option("--idle-exit", options->idle_exit, "End after this long without a caller");
  command.flag("--check", options->check, "Only read the configuration and say what is wrong");
}

} // namespace jprof::sidecar
