// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Attack surface: a .jprof file that a hostile pod sent. Sought: reads outside the input, memory or
// time out of proportion, ids that lead outside the profile's tables. Besides the bytes as they
// are, the input is tried as a data chunk's payload with right checksums, which chance never finds.
#include "lib/profile/recording_chunk.h"
#include "lib/profile/recording_reader.h"
#include "lib/profile/recording_writer.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace jprof::profile;

ReadOptions small_limits(SampleTimes times) {
  ReadOptions options;
  options.times = times;
  options.samples = 100'000;
  options.stack_frames = 1'000'000;
  options.raw_bytes = 8'000'000;
  options.dictionary_entries = 100'000;
  return options;
}

void touch_everything(const Profile& profile) {
  std::size_t sum = 0;
  for (const EventId event : profile.event_ids()) {
    for (const Sample& sample : profile.event(event).samples) {
      sum += profile.string(profile.thread(sample.thread).name).size();
      for (const FrameId frame : profile.stack(sample.stack)) {
        const Frame& f = profile.frame(frame);
        sum += profile.string(f.name).size() + profile.string(f.owner).size() +
               profile.string(f.signature).size();
      }
    }
  }
  if (sum == SIZE_MAX) {
    std::abort(); // keeps the sum alive
  }
}

void try_read(std::string_view file) {
  for (const SampleTimes times : {SampleTimes::kKeep, SampleTimes::kMerge}) {
    const auto recording = read_recording(file, small_limits(times));
    if (!recording) {
      continue;
    }
    touch_everything(recording->profile);
    // What could be read can be written, and is then whole.
    const auto again = encode_recording(recording->profile);
    if (!again || !read_recording(*again)) {
      std::abort();
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try_read(bytes);
  if (size <= kMaxChunkBytes) {
    const auto chunk = encode_chunk({.kind = ChunkKind::kData, .payload = bytes}, 1);
    try_read(encode_file_header() + chunk.value());
  }
  return 0;
}
