// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/capture/coverage.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jprof::capture {

// What the recorder says of a capture: the manifest's `measured`. Names are foreign text, not yet
// safe for a terminal. docs/formats/capture.md.
struct Measured {
  struct Loss {
    std::string reason;
    std::uint64_t samples = 0;
    std::uint64_t weight_ns = 0;
  };
  // Why samples have no whole stack: the frame that their stacks have instead.
  struct ErrorReason {
    std::string frame; // "[truncated]"
    std::uint64_t samples = 0;
  };
  // What the capture cost the JVM by the agent's own account.
  struct Cost {
    std::chrono::nanoseconds total{0}; // thread + handlers + delivery
    std::chrono::nanoseconds thread{0};
    std::chrono::nanoseconds handlers{0};
    std::chrono::nanoseconds longest_handler{0};
    std::chrono::nanoseconds delivery{0};
    std::chrono::nanoseconds start{0}; // start asked for -> first timer armed
    std::uint32_t limit_permille = 0;  // asked for, of the JVM's CPU time; 0: no limit
  };
  struct Method {
    std::string name;
    std::uint64_t samples = 0;
    std::uint64_t weight_ns = 0; // self
  };

  std::int64_t pid = 0; // as the sidecar sees it
  std::string java_version;
  std::string agent_version;
  std::string event;
  std::string engine;
  std::string walker;
  std::chrono::nanoseconds duration{0};
  std::chrono::nanoseconds interval{0};     // asked
  std::chrono::nanoseconds interval_got{0}; // 0: no thread had two samples
  std::chrono::nanoseconds tick{0};         // what the engine's timers are rounded to; 0: nothing
  std::uint64_t samples = 0;                // error frames included
  // Samples that weigh the intervals that have passed instead of the CPU time that was measured.
  std::uint64_t nominal_samples = 0;
  std::uint64_t error_samples = 0;
  std::vector<ErrorReason> error_reasons; // of these, most first
  std::uint64_t max_depth = 0;            // frames kept of a stack, at the end; 0: not known
  std::uint64_t rests = 0;                // in the recording besides: CPU time without a stack
  std::uint64_t weight_ns = 0;            // of samples and rests
  std::uint64_t signals = 0;
  std::uint64_t in_flight = 0;
  // Made from the recording of a recorder that was killed: what is in no recording (signals,
  // losses, cost, `accounted`) is not known then, not 0.
  bool salvaged = false;
  bool accounted = false; // signals = samples + losses + in flight, to the sample
  std::vector<Loss> losses;
  std::chrono::nanoseconds process_cpu{0};
  Coverage coverage;
  // Of the samples' time: in code that was compiled without DebugNonSafepoints, before the capture,
  // and so may lack lines and inlined methods. None: not known, which is not 0.
  std::optional<std::chrono::nanoseconds> old_code;
  std::uint64_t threads = 0;
  std::uint64_t threads_unarmed = 0; // that never had a timer
  std::uint64_t timers_refused = 0;  // threads that found none when they were found, for a limit
  std::uint64_t timers_moved = 0;    // timers that went from a thread to another one
  Cost cost;
  std::vector<Method> hottest; // at most ten
  bool interrupted = false;
  std::vector<std::string> residue;  // what the capture left in the JVM for good
  std::vector<std::string> warnings; // why the profile may mislead, or that it cost too much
  std::vector<std::string> notes;
  std::vector<std::string> skipped; // each way of delivering the agent that was not taken, and why
  std::vector<std::string> file_errors; // derived files that could not be made

  std::uint64_t lost() const;
};

base::Json measured_json(const Measured& measured);
// Tolerant: what is absent or of another type stays as it is by default; lists are cut at 64.
Measured measured_from_json(const base::Json& json);

} // namespace jprof::capture
