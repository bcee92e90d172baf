// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/protocol/frame.h"

#include "lib/base/check.h"
#include "lib/base/digest.h"
#include "lib/base/encoding.h"

#include <array>
#include <utility>

namespace jprof::protocol {
namespace {

constexpr std::string_view kMagic = "JP";

constexpr std::array<std::string_view, 11> kNames{"",      "hello",  "request", "progress",
                                                  "chunk", "result", "error",   "cancel",
                                                  "ping",  "pong",   "end"};

template <typename T>
void put_le(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

template <typename T>
T get_le(std::string_view bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(static_cast<unsigned char>(bytes[at + i]))
                                       << (8 * i));
  }
  return value;
}

std::string frame_header(FrameType type, std::size_t payload_bytes) {
  JPROF_CHECK(payload_bytes <= kMaxPayloadBytes);
  std::string out;
  out.reserve(kFrameHeaderBytes + payload_bytes);
  out += kMagic;
  put_le(out, static_cast<std::uint16_t>(type));
  put_le(out, static_cast<std::uint32_t>(payload_bytes));
  return out;
}

} // namespace

bool is_known_frame_type(FrameType type) {
  const auto number = static_cast<std::size_t>(type);
  return number > 0 && number < kNames.size();
}

std::string frame_type_name(FrameType type) {
  const auto number = static_cast<std::size_t>(type);
  return is_known_frame_type(type) ? std::string(kNames[number]) : std::to_string(number);
}

std::string encode_frame(FrameType type, std::string_view payload) {
  std::string out = frame_header(type, payload.size());
  out += payload;
  return out;
}

void FrameDecoder::feed(std::string_view bytes) {
  if (damaged_) {
    return; // nothing will be taken again: do not hoard
  }
  buffer_.erase(0, std::exchange(at_, 0));
  buffer_ += bytes;
}

base::Result<std::optional<Frame>> FrameDecoder::take() {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  const std::string_view seen_magic = rest.substr(0, kMagic.size());
  if (damaged_ || seen_magic != kMagic.substr(0, seen_magic.size())) {
    damaged_ = true;
    return base::make_failure(base::ErrorCode::kProtocol,
                              "not a jprof frame: \"" + base::printable(rest, 80) + "\"");
  }
  if (rest.size() < kFrameHeaderBytes) {
    return std::nullopt;
  }
  const auto type = static_cast<FrameType>(get_le<std::uint16_t>(rest, 2));
  const auto length = get_le<std::uint32_t>(rest, 4);
  if (length > kMaxPayloadBytes) {
    damaged_ = true;
    return base::make_failure(base::ErrorCode::kProtocol,
                              "a frame of " + std::to_string(length) + " bytes: at most " +
                                  std::to_string(kMaxPayloadBytes) + " are allowed");
  }
  if (rest.size() < kFrameHeaderBytes + length) {
    return std::nullopt;
  }
  Frame frame{type, std::string(rest.substr(kFrameHeaderBytes, length))};
  at_ += kFrameHeaderBytes + length;
  return frame;
}

std::string encode_chunk_frame(const Chunk& chunk) {
  JPROF_CHECK(chunk.data.size() <= kMaxChunkData);
  std::string out = frame_header(FrameType::kChunk, kChunkHeaderBytes + chunk.data.size());
  put_le(out, chunk.file);
  put_le(out, base::crc32c(chunk.data));
  put_le(out, chunk.offset);
  out += chunk.data;
  return out;
}

base::Result<Chunk> decode_chunk(std::string_view payload) {
  if (payload.size() < kChunkHeaderBytes || payload.size() > kChunkHeaderBytes + kMaxChunkData) {
    return base::make_failure(base::ErrorCode::kProtocol,
                              "a chunk of " + std::to_string(payload.size()) + " bytes");
  }
  Chunk chunk;
  chunk.file = get_le<std::uint32_t>(payload, 0);
  chunk.offset = get_le<std::uint64_t>(payload, 8);
  chunk.data = payload.substr(kChunkHeaderBytes);
  if (base::crc32c(chunk.data) != get_le<std::uint32_t>(payload, 4)) {
    return base::make_failure(base::ErrorCode::kProtocol,
                              "a chunk arrived damaged (its CRC-32C differs)",
                              "fetch the capture again by its id");
  }
  return chunk;
}

} // namespace jprof::protocol
