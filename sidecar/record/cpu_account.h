// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/record/recorder.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

// What became of the CPU time that the JVM used during a recording.
namespace jprof::record {

// Clamped, because a hostile counter may say anything.
std::chrono::nanoseconds nanos(std::uint64_t count);

// What the process has used since the accounts of its threads began; 0 if that is unknown. The
// accounts begin one by one while the first timers are made, between two readings of the process's
// clock (Counter::kArmingCpuNanos). Their contents say where between the two the sum began, so that
// the total is never less than its parts. `rests` are those of the threads.
std::chrono::nanoseconds process_cpu(const RecorderResult& result, std::chrono::nanoseconds rests);

// What the kernel has counted for the process beyond samples, lost samples, the agent's thread and
// the `rests` of threads: time of threads that nobody saw, or not until their end. 0 if the
// difference may be what the clocks advanced between their readings, or was used before there were
// timers.
std::chrono::nanoseconds ended_unseen(const RecorderResult& result, std::chrono::nanoseconds rests);

// `interval` is what was asked for. `unclean` is 0 after a clean stop, otherwise how long the
// recording lasted: then the process's clock lags by up to half a second, but the samples do not.
capture::Coverage coverage_of(const RecorderResult& result, std::chrono::nanoseconds interval,
                              std::chrono::nanoseconds unclean);

// The part of the samples' time that is in code compiled before the capture, as in
// capture::Measured. Requires that the coverage is known.
std::optional<std::chrono::nanoseconds> old_code_of(const RecorderResult& result);

// How many samples weigh intervals instead of measured time, and why; empty if only a few do, as
// may happen at any start.
std::string nominal_text(const RecorderResult& result);

// Why the profile may mislead, with what is known about the causes; empty if it does not.
std::string coverage_warning_of(const RecorderResult& result);

} // namespace jprof::record
