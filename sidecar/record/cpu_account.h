// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/record/recorder.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

// What became of the CPU time that the JVM used during a session.
namespace jprof::record {

// A hostile counter may say anything: clamped.
std::chrono::nanoseconds nanos(std::uint64_t count);

// Between the two readings of the process's clock; 0 if the agent did not come to the second one.
std::chrono::nanoseconds process_cpu(const RecorderResult& result);

// What the kernel has counted for the process beside samples, lost ones, the agent's thread and the
// `rests` of threads: of threads that nobody saw, or did not see to their end. 0 where it may be
// what the clocks have advanced between their readings.
std::chrono::nanoseconds ended_unseen(const RecorderResult& result, std::chrono::nanoseconds rests);

// `interval` is what was asked for. `unclean` is 0 after a clean stop, else how long the session
// lasted: the process's clock is up to date within half a second then, the samples are.
capture::Coverage coverage_of(const RecorderResult& result, std::chrono::nanoseconds interval,
                              std::chrono::nanoseconds unclean);

// Of the samples' time: in code compiled before the capture, as capture::Measured has it. Once the
// coverage is known.
std::optional<std::chrono::nanoseconds> old_code_of(const RecorderResult& result);

// Why the profile may mislead, with what is known of the causes; empty where it does not.
std::string coverage_warning_of(const RecorderResult& result);

} // namespace jprof::record
