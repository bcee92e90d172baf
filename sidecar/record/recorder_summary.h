// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"
#include "sidecar/record/recorder.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// What the region's counters mean to a reader of the profile.
namespace jprof::record {

// Outcomes that lost a sample or its time, by cause.
std::vector<profile::Loss> losses_of(const RecorderResult& result);
// The sum of all outcomes; equals kEntered except for signals in flight.
std::uint64_t sum_of_outcomes(const RecorderResult& result);
// Why a capture ended early; without a cause if it ended as asked.
Ending early_end(wire::StopReason reason);
// What else a reader must know to decide whether to trust the profile; `interval` is the requested
// one.
std::vector<std::pair<std::string, std::string>> facts_of(const RecorderResult& result,
                                                          std::chrono::nanoseconds interval);

// What a recording says about itself at its beginning. Its start is now if the one that the agent
// gives is implausibly far from our clock.
profile::ProfileInfo opening_info(const RecorderInput& input, const RecorderOptions& options,
                                  const wire::RegionHeader& header);

} // namespace jprof::record
