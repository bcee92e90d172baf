// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace jprof::profile {

struct EventSummary {
  std::uint64_t samples = 0;
  std::uint64_t rests = 0; // entries with nothing but a weight (lib/profile/rest.h)
  std::uint64_t weight = 0;
};

// What a recording says without its stacks and names.
struct RecordingSummary {
  ProfileInfo info; // the last one; in a truncated recording, the one that opened it
  std::vector<EventSummary> events{1}; // by EventId, at least as many as `info` names
  std::uint64_t threads = 0;           // with samples or rests
  std::chrono::nanoseconds first{0};   // sample or rest, since info.start
  std::chrono::nanoseconds last{0};    // sample or rest
  std::uint64_t damaged_chunks = 0;    // whose samples are not in the sums
  std::uint64_t samples_in_damage = 0; // as their headers say
  bool complete = false;               // the end is there
};

// Reads a chunk at a time, so that the largest chunk (16 MiB, usually some KiB) bounds memory, and
// not the file. Ends at the first byte that belongs to no whole chunk. kInvalidData if it is not a
// recording.
base::Result<RecordingSummary> summarize_recording_fd(int fd, const std::string& name);

} // namespace jprof::profile
