// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::profile {

// Appends bytes to the recording's destination, or fails and appends none of them.
using ByteSink = std::function<base::Status(std::string_view)>;

struct RecordingOptions {
  int zstd_level = 6; // of large chunks
  // That of the clock by which samples were taken: smaller differences between their times mean
  // nothing.
  std::chrono::nanoseconds tick{0};
  std::size_t chunk_samples = 65536; // a chunk is written once this many are waiting, if not before
};

// Writes a recording (docs/formats/recording.md) chunk by chunk while it is made: what has been
// flushed is readable whatever happens to the writer. Ids are those of this writer. One thread at a
// time. After a failure of the sink every later call gives the same failure, until give_up().
class RecordingWriter {
 public:
  RecordingWriter(ByteSink sink, const ProfileInfo& info, const RecordingOptions& options = {});
  ~RecordingWriter();
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;

  StringId intern_string(std::string_view text);
  FrameId intern_frame(const Frame& frame);
  StackId intern_stack(std::span<const FrameId> root_first);
  std::span<const FrameId> stack(StackId id) const;
  const Frame& frame(FrameId id) const;
  std::string_view string(StringId id) const;
  ThreadId add_thread(const Thread& thread);
  // More may become known about a thread; the last state counts.
  void set_thread(ThreadId id, const Thread& thread);
  // The event must be one of the info that this was made with.
  base::Status add_sample(const Sample& sample, EventId event = kFirstEvent);

  // Writes everything so far to the sink.
  base::Status flush();
  // After a failure of the sink: returns the samples that are not in the recording, by event, and
  // writes no more of them. finish() then closes the recording, if the sink takes that much.
  std::vector<std::vector<Sample>> give_up();
  // Writes the final info, with the same events, and the totals; the recording is complete then.
  // Call it last, and again only after it failed.
  base::Status finish(const ProfileInfo& info);

  std::uint64_t bytes_written() const; // that the sink took
  std::uint64_t sample_count() const;  // of all events
  // Roughly how much memory the dictionary takes.
  std::size_t dictionary_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A whole profile as a recording.
base::Status write_recording(const Profile& profile, const ByteSink& sink,
                             const RecordingOptions& options = {});
base::Result<std::string> encode_recording(const Profile& profile,
                                           const RecordingOptions& options = {});

} // namespace jprof::profile
