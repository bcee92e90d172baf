// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/capture/coverage.h"
#include "lib/capture/measured.h"
#include "lib/profile/profile.h"
#include "lib/wire/detail.h"
#include "sidecar/record/memory_budget.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// One whole capture, the same for `jprof record` and `jprof serve`: find the JVM, connect the
// agent, record, seal profile.jprof, write the derived files asked for, count everything.
namespace jprof::record {

inline constexpr char kRecordingFile[] = "profile.jprof";

struct CaptureRequest {
  std::optional<std::int32_t> pid; // empty: the one JVM that is visible
  std::chrono::nanoseconds duration{std::chrono::seconds(10)};
  std::chrono::nanoseconds interval{kDefaultInterval};
  std::string event = "cpu";
  std::string engine = "auto"; // or "cpu-timer", "perf-clock" (which falls back to the timer)
  std::string walker = "vmstructs";
  bool leave_behind = false;    // the walker may leave something in the JVM for good
  bool force = false;           // even if memory is short
  std::uint64_t pod_memory = 0; // the pod's limit in bytes; 0: unknown
  std::uint32_t max_depth = 2048;
  std::uint32_t max_overhead_permille = wire::kDefaultOverheadPermille; // 0: no limit
  // What to derive in addition to profile.jprof, by file name extension without the dot: "html",
  // "collapsed".
  std::vector<std::string> formats;
  std::string threads; // root frames in them: "thread" or "pool", empty: none
  // Takes each derived file and gives the paths at which it has written it; it reports itself what
  // it cannot write. Empty: they are made in `directory`.
  std::function<std::vector<std::string>(const std::string& ending, std::string_view bytes)>
      take_derived;
  // Must exist and be the caller's own: profile.jprof and the derived files are made in it.
  std::string directory;
  // What all files in it may take together, including a manifest; 0: no limit. A recording that
  // comes near the limit ends early but whole; a derived file that would exceed it is not made.
  std::uint64_t max_bytes = 0;
  // From the agent's start on, this process may only do what reading the JVM's output takes, for
  // good (sandbox/sandbox.h). It may write only in the folders in `writable`, which include the
  // parent of `directory`.
  bool sandbox = false;
  // RecorderInput::why_stopped.
  std::function<std::string()> why_stopped;
  std::vector<std::string> writable;
  std::string title;        // empty: the JVM's main class and pid
  std::string agent_file;   // empty: libjprof.so beside this program
  std::string agent_volume; // a directory that target and sidecar share; empty: none
  // Shown with the profile, in order: {"pod", "checkout-7d9f"}.
  std::vector<std::pair<std::string, std::string>> facts;
};

// The agent's file as this process sees it: the one asked for, or else libjprof.so next to the
// program, which is where the image and the build folder have it. kConfigInvalid if that cannot be
// read.
base::Result<std::string> find_agent_file(const std::string& asked);

struct MethodShare {
  std::string name; // "com.acme.Foo.bar"; not yet safe for a terminal
  std::uint64_t samples = 0;
  std::uint64_t weight = 0;
};

enum class CapturePhase { kFinding, kAttaching, kRecording, kSealing, kRendering, kDone };

struct CaptureProgress {
  CapturePhase phase = CapturePhase::kFinding;
  std::chrono::nanoseconds elapsed{0}; // of the recording
  std::chrono::nanoseconds duration{0};
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;
  std::vector<MethodShare> hottest; // at most five, by self weight; empty until there are samples
};
// Called on the thread of run_capture, at least twice a second while recording. Must not block.
using ProgressCallback = std::function<void(const CaptureProgress&)>;

struct CapturedFile {
  std::string name;   // within the directory
  std::string format; // "jprof", "html", ...
  std::uint64_t bytes = 0;
  std::string sha256; // hex
};

// What the capture cost the JVM, as the agent measured it.
struct AgentCost {
  std::chrono::nanoseconds thread_cpu{0}; // the agent's own thread
  std::chrono::nanoseconds handlers{0};   // inside the signal handler
  std::chrono::nanoseconds longest_handler{0};
  std::chrono::nanoseconds delivery{0}; // signals x calibrated cost of one delivery
  std::chrono::nanoseconds start{0};    // start message -> first timer armed
  std::uint32_t limit_permille = 0;     // --max-overhead, of the JVM's CPU time; 0: no limit
  std::chrono::nanoseconds total() const { return thread_cpu + handlers + delivery; }
};

struct CaptureOutcome {
  std::int32_t pid = 0;
  std::string java_version;
  std::string agent_version;
  std::string event;
  std::string engine;
  std::string walker;
  std::chrono::system_clock::time_point start;
  std::chrono::nanoseconds duration{0};
  std::chrono::nanoseconds interval{0};     // requested
  std::chrono::nanoseconds interval_got{0}; // CPU time per signal without overruns; 0: no samples
  std::chrono::nanoseconds tick{0};         // what the source's timers are rounded to; 0: nothing
  std::uint64_t samples = 0;                // in profile.jprof, error frames included
  std::uint64_t nominal_samples = 0;        // of these: see capture::Measured
  std::uint64_t error_samples = 0;          // of these: no stack, or one that ends in an error
  std::vector<capture::Measured::ErrorReason> error_reasons; // of these
  std::uint32_t max_depth = 0;             // frames kept of a stack, at the end; 0: unknown
  std::uint64_t rests = 0;                 // in addition: CPU time without a stack
  std::uint64_t weight = 0;                // ns, of samples and rests
  std::uint64_t signals = 0;               // handled; = samples + losses + in flight, see accounted
  std::uint64_t in_flight = 0;             // handlers that had not ended when the region was final
  bool accounted = false;                  // the sums agree to the sample
  std::vector<profile::Loss> losses;       // by cause
  std::chrono::nanoseconds process_cpu{0}; // of the JVM during the capture
  std::uint64_t threads = 0;               // armed
  std::uint64_t threads_unarmed = 0;
  std::uint64_t timers_refused = 0;
  std::uint64_t timers_moved = 0;
  capture::Coverage coverage;
  std::optional<std::chrono::nanoseconds> old_code; // see capture::Measured
  std::vector<std::string> warnings;                // what a user must know: misleading, or costly
  AgentCost cost;
  std::vector<MethodShare> hottest; // at most ten, by self weight
  bool interrupted = false;         // the stop token ended it; not a failure
  bool partial = false;             // something else ended it early
  std::string partial_reason;
  std::string cure; // of partial_reason; may be empty
  std::vector<CapturedFile> files;
  base::UniqueFd recording;         // profile.jprof, to be read even where its folder has gone
  std::vector<std::string> residue; // what stays in the JVM for good
  std::vector<std::string> notes;
  std::vector<std::string> skipped_deliveries; // each way not taken, and why
  std::vector<std::string> sandbox_missing;    // what the sandbox lacks, and why
  std::vector<base::Error> file_errors;        // files that could not be made or written

  // 0, 6 (partial) or 7 (a file is missing).
  int exit_code() const;
};

// Runs the capture on the calling thread. An Error means that nothing was kept; a capture that
// ended early is an outcome with `partial` set. A stop request seals and derives what there is, or
// gives kInterrupted if there is no sample yet.
base::Result<CaptureOutcome> run_capture(const CaptureRequest& request,
                                         const ProgressCallback& progress, std::stop_token stop);

} // namespace jprof::record
