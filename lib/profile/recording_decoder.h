// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/event_totals.h"
#include "lib/profile/profile_builder.h"
#include "lib/profile/recording_reader.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace jprof::profile {

// Turns the payloads of data chunks into a profile, translating the file's ids to the builder's. A
// gap in the file's ids (a damaged chunk) becomes entries that say so. One thread at a time.
class RecordingDecoder {
 public:
  explicit RecordingDecoder(const ReadOptions& options);

  enum class Outcome { kOk, kDamaged, kLimit };
  // Whatever precedes the damage is kept.
  Outcome decode(std::string_view payload);

  // By event; those beyond the last one that has samples are missing.
  const std::vector<EventTotals>& totals() const { return totals_; }
  // Samples whose stack was in a damaged chunk.
  std::uint64_t samples_without_stack() const { return samples_without_stack_; }

  // Samples of an event that `info` does not name are of one that it calls "[damaged]".
  Profile build(ProfileInfo info);

 private:
  Outcome decode_strings(std::string_view bytes);
  Outcome decode_frames(std::string_view bytes);
  Outcome decode_stacks(std::string_view bytes);
  Outcome decode_threads(std::string_view bytes);
  Outcome add_samples(std::string_view bytes);
  Outcome add_sample(EventId event, Sample sample);
  bool note_thread(ThreadId id);
  FrameId damaged_frame();
  StackId damaged_stack();

  using MergeKey = std::tuple<EventId, ThreadId, StackId, ThreadState>;

  ReadOptions options_;
  ProfileBuilder builder_;
  std::vector<StringId> strings_;
  std::vector<FrameId> frames_;
  std::vector<StackId> stacks_;
  // By the file's ids. Untrusted ids may have any value; each costs an entry, never the space
  // between them.
  std::map<ThreadId, Thread> threads_;
  std::optional<ThreadId> last_thread_;    // in threads_; samples come thread by thread
  std::map<MergeKey, std::size_t> merged_; // into those of the event in kept_
  std::vector<std::vector<Sample>> kept_;  // by event
  std::size_t stack_frames_ = 0;
  std::size_t shown_bytes_ = 0; // of names with lines
  std::uint64_t entries_ = 0;
  std::vector<EventTotals> totals_;
  std::uint64_t samples_without_stack_ = 0;
};

} // namespace jprof::profile
