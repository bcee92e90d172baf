// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/capture_options.h"

#include "lib/base/duration.h"

namespace jprof::sidecar {

void add_target_options(CLI::App& command, CaptureOptions& options,
                        const std::string& duration_help) {
  command.add_option("PID", options.pid, "The JVM; without it, the only one that is visible");
  command.add_option("-d,--duration", options.duration, duration_help)->capture_default_str();
  command.add_option("-i,--interval", options.interval, "CPU time between samples of a thread")
      ->capture_default_str();
}

void add_agent_options(CLI::App& command, CaptureOptions& options) {
  command.add_option("--agent", options.agent, "libjprof.so (default: beside this program)")
      ->envname("JPROF_AGENT");
  command
      .add_option("--agent-volume", options.agent_volume,
                  "Directory that the JVM's container mounts as well, for the agent")
      ->envname("JPROF_AGENT_VOLUME");
}

base::Result<record::CaptureRequest> request_of(const CaptureOptions& options) {
  record::CaptureRequest request;
  request.pid = options.pid;
  JPROF_TRY_ASSIGN(request.duration, base::parse_duration(options.duration));
  JPROF_TRY_ASSIGN(request.interval, base::parse_duration(options.interval));
  request.agent_file = options.agent;
  request.agent_volume = options.agent_volume;
  return request;
}

} // namespace jprof::sidecar
