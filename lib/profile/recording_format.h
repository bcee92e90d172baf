// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// Constants of the .jprof recording, shared by writer and reader. The format, and why it is so:
// docs/formats/recording.md. Rules: a new minor adds tags, chunk kinds and columns that old readers
// skip; a new major is for everything else, and readers keep every major.
namespace jprof::profile {

// Begins like PNG's signature, so that damage by a text-mode transfer shows at once.
inline constexpr std::string_view kRecordingMagic{"\x89JPROF\r\n", 8};
inline constexpr std::uint16_t kRecordingMajor = 1;
inline constexpr std::uint16_t kRecordingMinor = 0;
inline constexpr std::size_t kFileHeaderBytes = 16; // magic, major, minor, CRC-32C of these

inline constexpr std::uint32_t kChunkMagic = 0x4b48434aU; // "JCHK" in file order
inline constexpr std::size_t kChunkHeaderBytes = 32;
inline constexpr std::uint32_t kMaxChunkBytes = 16U << 20; // stored, and decompressed
inline constexpr std::size_t kMaxChunkSamples = 1U << 20;

// A deeper stack keeps its root side and its leaf; far above any JVM's own limit.
inline constexpr std::size_t kMaxDepth = 65536;

enum class ChunkKind : std::uint16_t {
  kInfo = 1, // what the profile is; the last one counts
  kData = 2, // dictionary entries and samples
  kEnd = 3,  // totals; a file without it was cut off
};
inline constexpr std::uint16_t kChunkIsZstd = 1; // flag: the payload is one zstd frame
inline constexpr std::uint16_t kChunkIsCritical =
    2; // flag: a reader that does not know the kind must stop

// Fields of a data chunk.
enum class DataTag : std::uint64_t {
  kStrings = 1,
  kFrames = 2,
  kStacks = 3,
  kThreads = 4,
  kSamples = 5,
};

// Columns of DataTag::kSamples.
enum class SampleTag : std::uint64_t {
  kHead = 1,
  kThreadRuns = 2,
  kTimes = 3,
  kStacks = 4,
  kWeights = 5,
  kStates = 6,
  kCounts = 7,
};

// Fields of an info chunk.
enum class InfoTag : std::uint64_t {
  kTitle = 1,
  kEvent = 2, // once for each, in the order of their numbers
  kStart = 3,
  kDuration = 4,
  kHasTimes = 5,
  kHasThreads = 6,
  kPartial = 7,
  kFact = 8,
};

// Fields of InfoTag::kEvent.
enum class EventTag : std::uint64_t {
  kName = 1,
  kUnit = 2,
  kEngine = 3,
  kWalker = 4,
  kInterval = 5,
  kIntervalGot = 6,
  kLoss = 7,
  kGap = 8,
};

// Fields of an end chunk: the totals of each event, in the order of their numbers.
enum class EndTag : std::uint64_t { kEvent = 1 };

// An untrusted file may claim millions. What one capture can observe is a handful.
inline constexpr std::size_t kMaxEvents = 16;

} // namespace jprof::profile
