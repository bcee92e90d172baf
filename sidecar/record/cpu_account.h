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

// A hostile counter may say anything: clamped.
std::chrono::nanoseconds nanos(std::uint64_t count);

// Between the two readings of the process's clock; 0 if the agent did not take the second one.
std::chrono::nanoseconds process_cpu(const RecorderResult& result);

// What the kernel has counted for the process in addition to samples, lost ones, the agent's thread
// and the `rests` of threads: the time of threads that nobody saw, or saw only in part. 0 if it may
// be what the clocks have advanced between their readings.
std::chrono::nanoseconds ended_unseen(const RecorderResult& result, std::chrono::nanoseconds rests);

// `interval` is what was asked for. `unclean` is 0 after a clean stop, or else how long the
// recording lasted: then the process's clock lags by up to half a second, and the samples do not.
capture::Coverage coverage_of(const RecorderResult& result, std::chrono::nanoseconds interval,
                              std::chrono::nanoseconds unclean);

// The part of the samples' time that is in code compiled before the capture, as in
// capture::Measured. Requires that the coverage is known.
std::optional<std::chrono::nanoseconds> old_code_of(const RecorderResult& result);

// Why the profile may mislead, with the known causes; empty if it does not.
std::string coverage_warning_of(const RecorderResult& result);

} // namespace jprof::record
