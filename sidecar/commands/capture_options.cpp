// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/capture_options.h"

#include "lib/base/duration.h"
#include "lib/cli/foreign_text.h"
#include "sidecar/record/memory_budget.h"
#include "sidecar/record/work_directory.h"
#include "sidecar/serve/process_limits.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <sys/resource.h>

namespace jprof::sidecar {

void add_target_options(cli::Command command, CaptureOptions& options,
                        const std::string& duration_help) {
  command.option("PID", options.pid, "The JVM; without it, the only one that is visible");
  command.option("-d,--duration", options.duration, duration_help).show_default();
  command.option("-i,--interval", options.interval, "CPU time between samples of a thread")
      .show_default();
}

void add_agent_options(cli::Command command, CaptureOptions& options) {
  command.option("--agent", options.agent, "libjprof.so (default: beside this program)")
      .environment("JPROF_AGENT");
  command
      .option("--agent-volume", options.agent_volume,
              "Directory that the JVM's container also mounts, for the agent")
      .environment("JPROF_AGENT_VOLUME");
  command.flag(
      "--force", options.force,
      "Capture even if the JVM, what holds it or the machine is short of memory: the kernel may "
      "then kill the JVM");
}

void add_leave_behind(cli::Command command, CaptureOptions& options) {
  command.flag("--leave-behind", options.leave_behind,
               "Accept that asgct, jvmti and jmx make mounts of virtual threads cost some 20 to 30 "
               "% more until the JVM ends (JDK 21 and later)");
}

void tell_what_stays(const std::string& walkers) {
  std::fprintf(stderr,
               "note: %s open JVMTI: on JDK 21 and later mounts of virtual threads cost some 20 to "
               "30 %% more until the JVM ends\n",
               walkers.c_str());
}

void tell_of_abandoned(const std::string& folder) {
  record::remove_empty_leftovers(folder);
  for (const std::string& file : record::abandoned_recordings(folder)) {
    cli::print_warning("jprof", "an earlier jprof was killed or could not go on, and left what it "
                                "had in " +
                                    file + ": read it with jprof convert " + file +
                                    " -o FILE, then remove its folder");
  }
}

base::Status need_open_files() {
  // 42 to 46 are open at once where the JVM's cgroup and ours lie three folders deep (strace): some
  // 20, and four for each folder in each hierarchy, of which another node may have more.
  constexpr rlim_t kNeeded = 64;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= kNeeded) {
    return {};
  }
  const std::string had = std::to_string(files.rlim_cur);
  files.rlim_cur = kNeeded;
  if (files.rlim_max >= kNeeded && ::setrlimit(RLIMIT_NOFILE, &files) == 0) {
    return {};
  }
  return base::make_failure(base::ErrorCode::kLimit,
                            "cannot open what a capture needs: too many open files (this process "
                            "may have " +
                                had + ")",
                            "raise the limit on open files (ulimit -n) to at least " +
                                std::to_string(kNeeded));
}

base::Status limit_memory() {
  constexpr std::uint64_t kMin = std::uint64_t{16} << 20; // as docs/design/memory.md has it
  const std::uint64_t planned = serve::plan_memory(serve::container_memory_limit(), 1).capture;
  const std::uint64_t left = record::free_memory().value_or(planned);
  return serve::limit_this_process(std::min(planned, std::max(left, kMin)), 0);
}

base::Result<record::CaptureRequest> request_of(const CaptureOptions& options) {
  record::CaptureRequest request;
  request.pid = options.pid;
  JPROF_TRY_ASSIGN(request.duration, base::parse_duration(options.duration));
  JPROF_TRY_ASSIGN(request.interval, base::parse_duration(options.interval));
  request.agent_file = options.agent;
  request.agent_volume = options.agent_volume;
  request.leave_behind = options.leave_behind;
  request.force = options.force;
  return request;
}

} // namespace jprof::sidecar
