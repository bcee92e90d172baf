// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/recording_format.h"

#include <cstdint>
#include <string>
#include <string_view>

// One chunk of a recording: a header and a payload, each with a CRC of its own. Can be decoded
// alone.
namespace jprof::profile {

struct ChunkHeader {
  ChunkKind kind = ChunkKind::kData;
  std::uint16_t flags = 0;
  std::uint32_t sequence = 0; // counts up from 0, so that a missing chunk shows
  std::uint32_t stored_bytes = 0;
  std::uint32_t raw_bytes = 0;
  std::uint32_t samples = 0; // in the payload, so that those of a damaged one can be counted
  std::uint32_t payload_crc = 0;
};

std::string encode_file_header();
// Refuses what is not a recording or has an unknown major, and says which.
base::Status check_file_header(std::string_view file);

// Compresses where that helps. `payload` is at most kMaxChunkBytes.
struct ChunkContent {
  ChunkKind kind = ChunkKind::kData;
  std::uint32_t sequence = 0;
  std::uint32_t samples = 0;
  std::string_view payload;
};
base::Result<std::string> encode_chunk(const ChunkContent& content, int zstd_level);

// False if `bytes` does not begin with a whole, valid header.
bool decode_chunk_header(std::string_view bytes, ChunkHeader& out);
// The payload, checked and decompressed. `stored` has header.stored_bytes.
base::Result<std::string> decode_payload(const ChunkHeader& header, std::string_view stored);

} // namespace jprof::profile
