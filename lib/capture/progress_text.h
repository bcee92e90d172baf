// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

// How far a capture is, as both programs say it while it runs.
namespace jprof::capture {

// How much of it is done, from 0 to 1; none if nobody knows how long it takes.
std::optional<double> part_of(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds duration);

// "12": the part of a second is cut off.
std::string whole_seconds(std::chrono::nanoseconds time);

// "12/60 s, 1203 samples, 100/s, 2 lost".
std::string recording_text(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds duration,
                           std::uint64_t samples, std::uint64_t lost);

} // namespace jprof::capture
