// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

  std::uint64_t samples() const { return samples_; }
  std::uint64_t weight() const { return weight_; }
  std::uint64_t count() const { return count_; }
  // Samples whose stack was in a damaged chunk.
  std::uint64_t samples_without_stack() const { return samples_without_stack_; }

  Profile build(ProfileInfo info);

 private:
  Outcome decode_strings(std::string_view bytes);
  Outcome decode_frames(std::string_view bytes);
  Outcome decode_stacks(std::string_view bytes);
  Outcome decode_threads(std::string_view bytes);
  Outcome add_samples(std::string_view bytes);
  Outcome add_sample(Sample sample);
  bool note_thread(ThreadId id);
  FrameId damaged_frame();
  StackId damaged_stack();

  using MergeKey = std::tuple<ThreadId, StackId, ThreadState>;

  ReadOptions options_;
  ProfileBuilder builder_;
  std::vector<StringId> strings_;
  std::vector<FrameId> frames_;
  std::vector<StackId> stacks_;
  // By the file's ids. Untrusted ids may have any value; each costs an entry, never the space
  // between them.
  std::map<ThreadId, Thread> threads_;
  std::optional<ThreadId> last_thread_;    // in threads_; samples come thread by thread
  std::map<MergeKey, std::size_t> merged_; // into kept_
  std::vector<Sample> kept_;
  std::size_t stack_frames_ = 0;
  std::size_t shown_bytes_ = 0; // of names with lines
  std::uint64_t entries_ = 0;
  std::uint64_t samples_ = 0; // entries whose count is not 0
  std::uint64_t weight_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t samples_without_stack_ = 0;
};

} // namespace jprof::profile
