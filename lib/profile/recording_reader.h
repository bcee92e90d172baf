// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Reads recordings of every major. The bytes are untrusted: the limits and the file's size bound
// memory and time, whatever the file claims.
namespace jprof::profile {

enum class SampleTimes {
  kKeep,
  kMerge, // equal samples become one with a count: for recordings too long to hold
};

enum class FrameLines {
  kKeep,  // frames that differ only in their line are different frames
  kMerge, // ... are one, without a line
  kShow,  // ... have the line in their name: "Foo.bar:12"
};

struct ReadOptions {
  SampleTimes times = SampleTimes::kKeep;
  FrameLines lines = FrameLines::kKeep;
  // More than this fails with kLimit.
  std::size_t samples = 32'000'000;
  std::size_t stack_frames = 256'000'000;  // frame references in all stacks
  std::uint64_t raw_bytes = 2'000'000'000; // of all chunks, decompressed
  std::size_t dictionary_entries = 16'000'000;
  std::size_t file_bytes = 1'000'000'000;
};

// The condition of the file.
struct RecordingHealth {
  bool complete = false; // the end is there and its totals agree
  std::uint64_t chunks = 0;
  std::uint64_t damaged_chunks = 0;
  std::uint64_t skipped_chunks = 0; // of a kind that this program does not know
  std::uint64_t lost_samples = 0;   // in damaged chunks, as far as is known
  std::uint64_t ignored_bytes = 0;  // outside any whole chunk
  std::string problem;              // one sentence, empty if complete
};

struct Recording {
  Profile profile; // info().partial is set if the file is incomplete
  RecordingHealth health;
};

// A truncated or damaged file gives everything up to the damage (and after it, where chunks are
// whole again); `health` and the profile's info say so.
base::Result<Recording> read_recording(std::string_view file, const ReadOptions& options = {});
base::Result<Recording> read_recording_file(const std::string& path,
                                            const ReadOptions& options = {});
base::Result<Recording> read_recording_fd(int fd, const std::string& name,
                                          const ReadOptions& options = {});

} // namespace jprof::profile
