// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Samples as columns: what DataTag::kSamples holds. Sorted by thread and then time, because within
// a thread the next time is close to the last one plus the weight, and stacks repeat.
namespace jprof::profile {

// The resolution of times: a hundredth of the sampling interval, between 1 and 100 us. Finer digits
// are noise that no compressor removes. If the tick is longer, a hundredth of the tick, as a
// multiple, so that a recording keeps its times when it is rewritten by a program that does not
// know the tick.
std::chrono::nanoseconds time_step_for(std::chrono::nanoseconds interval,
                                       std::chrono::nanoseconds tick = {});

struct SampleColumnOptions {
  bool has_times = true;
  bool weight_is_time = true; // predict times from weights
  std::chrono::nanoseconds time_step{1000};
};

// Samples of one event. Sorts `samples` in place.
std::string encode_samples(std::span<Sample> samples, EventId event,
                           const SampleColumnOptions& options);

struct SampleBlock {
  EventId event = kFirstEvent; // below kMaxEvents
  std::vector<Sample> samples; // with the ids of the file
};

// False if the bytes are invalid, and then `out` is as before. `most` limits what a block may
// claim.
bool decode_samples(std::string_view bytes, std::size_t most, SampleBlock& out);

} // namespace jprof::profile
