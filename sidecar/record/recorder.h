// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/capture/coverage.h"
#include "lib/profile/profile.h"
#include "lib/profile/recording_writer.h"
#include "lib/wire/control.h"
#include "lib/wire/detail.h"
#include "lib/wire/region.h"
#include "sidecar/record/capture_job.h"
#include "sidecar/record/intake.h"
#include "sidecar/record/region_memory.h"
#include "sidecar/record/region_reader.h"
#include "sidecar/symbols/symbolizer.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace jprof::record {

struct RecorderOptions {
  std::chrono::nanoseconds duration{std::chrono::seconds(10)};
  std::chrono::nanoseconds interval{std::chrono::milliseconds(10)};
  wire::Engine engine = wire::Engine::kCpuTimer;
  wire::Walker walker = wire::Walker::kVmStructs;
  std::uint32_t max_depth = 2048;
  std::uint32_t max_overhead_permille = wire::kDefaultOverheadPermille; // 0: no limit
  bool may_leave_behind = false; // wire::StartFlag::kMayLeaveBehind
  std::uint64_t region_bytes = kDefaultRegionBytes;
  IntakeLimits limits;
  std::chrono::milliseconds drain_period{200};
  std::chrono::milliseconds start_timeout{15000};
  std::chrono::milliseconds stop_timeout{10000};
  // After the end of recording, for what is still unread. What remains unread is counted.
  std::chrono::milliseconds last_read_timeout{5000};
};

// Where native names come from; follows the module table.
struct NativeSource {
  NativeNamer namer;
  // True if something changed: addresses must be named again.
  std::function<bool(const std::vector<wire::ModuleSlot>&)> set_modules;
  // Its modules without a usable file are requested from the agent; null: none are.
  symbols::Symbolizer* symbolizer = nullptr;
};

// What ended the JVM and what to do about it; both empty if nothing is known.
struct Ending {
  std::string cause;
  std::string cure;
};

// What the recorder is given. The socket belongs to a connected agent (inject::AgentLink) that
// waits for its start message; the caller keeps it, and closing it afterwards frees the agent.
struct RecorderInput {
  int socket = -1;
  int region = -1;           // of make_region(options.region_bytes), unused; -1: record makes it
  profile::ProfileInfo info; // title and facts; the rest is filled in
  profile::ByteSink sink;    // where profile.jprof goes
  NativeSource native;
  // By how much CLOCK_MONOTONIC of the JVM's time namespace is ahead of ours; believed where the
  // start that the agent gives fits it and does not fit ours.
  std::chrono::nanoseconds clock_ahead{0};
  // Called once the agent was told to stop: why it cannot answer, empty if it can. May be empty.
  std::function<std::string()> standstill;
  // Called with each drain: why our memory must be given back now; empty if it need not. May be
  // empty.
  std::function<std::string()> shortage;
  ProgressCallback progress; // may be empty
  // Work that can wait until the agent samples; called when it does. May be empty.
  std::function<void()> on_start;
  std::stop_token stop;
  // Called once `stop` is requested: what cut the capture short; empty, or no function, if that was
  // the user, so that nothing is missing from the capture.
  std::function<std::string()> why_stopped;
  // True once the JVM's process has ended: a child that it forked may keep the socket open. May be
  // empty.
  std::function<bool()> ended;
  // The CPU time of the JVM's process as the kernel counts it, which covers the time after the
  // agent's last look; nothing once the kernel no longer knows that process. Called a few times a
  // second, and when the JVM is gone. May be empty.
  std::function<std::optional<std::chrono::nanoseconds>()> cpu_time;
  // Called once the JVM is gone. May be empty.
  std::function<Ending()> why_gone;
};

// What the region reported at the end, and what was read from it.
struct RecorderResult {
  profile::ProfileInfo info; // as written into the recording
  wire::StartedMessage started{};
  std::uint64_t counters[wire::kMaxCounters] = {};
  wire::StopReason reason = wire::StopReason::kNone;
  std::uint64_t samples = 0;
  std::uint64_t nominal_samples = 0; // as capture::Measured has it
  std::uint64_t error_samples = 0;
  std::vector<ErrorReason> error_reasons; // of these
  Intake::Rests rests;                    // in addition to the samples
  std::uint64_t weight = 0;               // of samples and rests
  std::uint64_t in_flight = 0;            // signals entered whose outcome is unknown
  std::uint32_t stragglers = 0;     // handlers that the agent still waited for when it said so
  wire::HandlerLeft handler_left{}; // ... and why the signal's handler was still there
  bool accounted = false;           // entered = outcomes + in flight, and every sample was read
  bool interrupted = false;         // by the stop token
  bool cut_short = false;           // ... and not by whoever wanted the capture
  bool jvm_gone = false;            // it hung up without a last word
  bool cpu_at_least = false;        // its CPU time at its end could no longer be read
  std::string cure;                 // for info.partial_reason; may be empty
  // The sink's failure. The recording then ends with the last chunk that the sink took, and all
  // sums here are of that; anything else that was read is counted in `unwritten`.
  std::optional<base::Error> sink_error;
  Intake::Unwritten unwritten;
  std::uint64_t threads = 0;
  std::chrono::nanoseconds tick{0};        // of the source
  std::uint32_t max_depth = 0;             // in force at the end
  std::uint32_t max_overhead_permille = 0; // asked for
  std::uint64_t recording_bytes = 0;
  bool detail_cut = false;           // stacks were shortened to stay within the sidecar's memory
  std::uint64_t left_out = 0;        // samples unread for lack of time or memory
  std::uint64_t damaged = 0;         // entries of the region with impossible references or times
  std::vector<MethodShare> hottest;  // at most ten
  ThreadRegistry::Unsampled blocked; // no signal reached them
  ThreadRegistry::Unsampled never_armed;            // the kernel gave no timer
  ThreadRegistry::Unsampled sandboxed;              // seccomp filters of their own
  capture::Coverage coverage;                       // of the CPU time that the JVM has used
  std::optional<std::chrono::nanoseconds> old_code; // as capture::Measured has it

  std::uint64_t counter(wire::Counter counter) const {
    return counters[static_cast<std::size_t>(counter)];
  }
};

// Makes one recording on the calling thread: makes the region, starts the agent, drains at >= 4 Hz
// until the duration, the stop token, the agent or a hang-up ends it, and completes the file. An
// Error means that the recording never began; whatever ends it early is in the result
// (info.partial).
base::Result<RecorderResult> record(const RecorderInput& input, const RecorderOptions& options);

// The names that outputs use: "cpu-timer", "vmstructs".
std::string_view engine_name(std::uint32_t engine);
std::string_view walker_name(std::uint32_t walker);

} // namespace jprof::record
