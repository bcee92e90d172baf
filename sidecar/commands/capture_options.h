// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every command that records takes: the JVM, the duration, the interval, and the agent's
// place.

#include "lib/base/result.h"
#include "lib/cli/program.h"
#include "sidecar/record/capture_job.h"

#include <cstdint>
#include <optional>
#include <string>

namespace jprof::sidecar {

struct CaptureOptions {
  std::optional<std::int32_t> pid{};
  std::string duration{};
  std::string interval = "10ms";
  std::string agent{};
  std::string agent_volume{};
  bool leave_behind = false;
  bool force = false;
};

// PID, --duration and --interval; then, after the command's own options, if it has any in between,
// the rest. The options must outlive the command.
void add_target_options(cli::Command command, CaptureOptions& options,
                        const std::string& duration_help);
// Only for commands that can choose what walks the stacks.
void add_leave_behind(cli::Command command, CaptureOptions& options);
// Prints one line on the terminal before a capture that may leave something in the JVM for good.
void tell_what_stays(const std::string& walkers);
// A warning for each recording that an earlier run left in `folder` because it was killed; what
// holds no sample is removed.
void tell_of_abandoned(const std::string& folder);
void add_agent_options(cli::Command command, CaptureOptions& options);

// The limit that a sidecar sets for each process that records, for this one
// (serve/process_limits.h); never more than is free now. An allocation beyond it fails, rather than
// letting the process grow without bound.
base::Status limit_memory();

// Raises the soft limit on open files to what a capture needs; kLimit with the cure if the hard
// limit is lower: without descriptors, whatever came first would fail, in its own words.
base::Status need_open_files();

// A request with all of them; kUsage for an invalid duration or interval.
base::Result<record::CaptureRequest> request_of(const CaptureOptions& options);

} // namespace jprof::sidecar
