// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Frames between a caller (plugin) and `jprof serve`, relayed by `jprof session` over exec's stdin
// and stdout. Layout and rules: docs/formats/protocol.md. POSIX only, no I/O here.
namespace jprof::protocol {

inline constexpr int kProtocol = 1;    // what we speak
inline constexpr int kMinProtocol = 1; // the oldest that we still speak

// Who sends it. Numbers are on the wire: never reuse one.
enum class FrameType : std::uint16_t {
  kHello = 1,    // both, first: Hello
  kRequest = 2,  // caller: Request
  kProgress = 3, // serve: Progress, any number
  kChunk = 4,    // serve: Chunk, after the result; the only binary payload
  kResult = 5,   // serve: ResultMessage, at most one a request, before its chunks
  kError = 6,    // serve, and a caller that gives up: base::Error; ends the request
  kCancel = 7,   // caller: CancelMessage
  kPing = 8,     // both: any JSON object, sent back as kPong
  kPong = 9,     // both
  kEnd = 10,     // serve: the request is done, nothing more follows for it
};

// "progress"; a number for what this version does not know.
std::string frame_type_name(FrameType type);
bool is_known_frame_type(FrameType type);

struct Frame {
  FrameType type = FrameType::kError;
  std::string payload;
};

inline constexpr std::size_t kFrameHeaderBytes = 8;
inline constexpr std::size_t kMaxPayloadBytes = 1024 * 1024;
inline constexpr std::size_t kChunkHeaderBytes = 16;
inline constexpr std::size_t kMaxChunkData = 256 * 1024;

// REQUIRES: payload.size() <= kMaxPayloadBytes.
std::string encode_frame(FrameType type, std::string_view payload);

// Turns a byte stream into frames. Feed what arrived, then take until there is none. The first
// damage (bad magic, a length above the limit) is kProtocol and final: the stream cannot be
// resynchronised. Holds at most one frame and what was fed. One thread at a time.
class FrameDecoder {
 public:
  void feed(std::string_view bytes);
  // nullopt: the next frame is not complete yet.
  base::Result<std::optional<Frame>> take();
  // Bytes fed and not yet taken: if this is not 0 at the end of a stream, the stream was cut off.
  std::size_t pending() const { return buffer_.size() - at_; }

 private:
  std::string buffer_;
  std::size_t at_ = 0;
  bool damaged_ = false;
};

// A piece of a result's file. `data` views the payload that it was decoded from.
struct Chunk {
  std::uint32_t file = 0; // index in ResultMessage::files
  std::uint64_t offset = 0;
  std::string_view data;
};

// The whole frame. REQUIRES: data.size() <= kMaxChunkData.
std::string encode_chunk_frame(const Chunk& chunk);
// Checks length and CRC-32C (kProtocol).
base::Result<Chunk> decode_chunk(std::string_view payload);

} // namespace jprof::protocol
