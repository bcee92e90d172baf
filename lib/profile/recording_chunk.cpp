// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_chunk.h"

#include "lib/base/check.h"
#include "lib/base/digest.h"
#include "lib/profile/byte_codec.h"

#include <zstd.h>

#include <algorithm>

namespace jprof::profile {
namespace {

constexpr char kNoRecording[] = "this is not a jprof recording";
// The chunks of a capture are small, and most of them are names and stacks, with no help from other
// chunks. So they get more effort: 64 KiB take some 20 ms.
constexpr std::size_t kSmallPayload = 64U << 10;
constexpr int kLevelOfSmall = 19;

std::string compress(std::string_view payload, int level) {
  std::string out(ZSTD_compressBound(payload.size()), '\0');
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), payload.data(), payload.size(), level);
  if (ZSTD_isError(size) != 0) {
    return {}; // out of memory: the payload is stored uncompressed
  }
  out.resize(size);
  return out;
}

} // namespace

std::string encode_file_header() {
  ByteWriter out;
  out.raw(kRecordingMagic);
  out.fixed16(kRecordingMajor);
  out.fixed16(kRecordingMinor);
  out.fixed32(base::crc32c(out.bytes()));
  return out.take();
}

base::Status check_file_header(std::string_view file) {
  if (file.size() < kFileHeaderBytes || file.substr(0, kRecordingMagic.size()) != kRecordingMagic) {
    return base::make_failure(base::ErrorCode::kInvalidData, kNoRecording,
                              "give a .jprof file written by jprof record or kubectl jprof");
  }
  ByteReader in(file.substr(kRecordingMagic.size(), kFileHeaderBytes - kRecordingMagic.size()));
  const std::uint16_t major = in.fixed16();
  in.fixed16(); // minor: all minors of a major are readable
  if (in.fixed32() != base::crc32c(file.substr(0, kFileHeaderBytes - 4))) {
    return base::make_failure(base::ErrorCode::kInvalidData, "the recording's header is damaged",
                              "fetch the file again");
  }
  if (major != kRecordingMajor) {
    return base::make_failure(base::ErrorCode::kInvalidData,
                              "the recording has format " + std::to_string(major) +
                                  ", but this program reads format 1",
                              "use a newer jprof");
  }
  return {};
}

base::Result<std::string> encode_chunk(const ChunkContent& content, int zstd_level) {
  JPROF_CHECK(content.payload.size() <= kMaxChunkBytes);
  const bool is_small = content.payload.size() <= kSmallPayload;
  const std::string packed =
      compress(content.payload, is_small ? std::max(zstd_level, kLevelOfSmall) : zstd_level);
  const bool use_packed = !packed.empty() && packed.size() < content.payload.size();
  const std::string_view stored = use_packed ? std::string_view(packed) : content.payload;
  ByteWriter out;
  out.fixed32(kChunkMagic);
  out.fixed16(static_cast<std::uint16_t>(content.kind));
  out.fixed16(use_packed ? kChunkIsZstd : std::uint16_t{0});
  out.fixed32(content.sequence);
  out.fixed32(static_cast<std::uint32_t>(stored.size()));
  out.fixed32(static_cast<std::uint32_t>(content.payload.size()));
  out.fixed32(content.samples);
  out.fixed32(base::crc32c(stored));
  out.fixed32(base::crc32c(out.bytes()));
  out.raw(stored);
  return out.take();
}

bool decode_chunk_header(std::string_view bytes, ChunkHeader& out) {
  if (bytes.size() < kChunkHeaderBytes) {
    return false;
  }
  ByteReader in(bytes.substr(0, kChunkHeaderBytes));
  if (in.fixed32() != kChunkMagic) {
    return false;
  }
  out.kind = static_cast<ChunkKind>(in.fixed16());
  out.flags = in.fixed16();
  out.sequence = in.fixed32();
  out.stored_bytes = in.fixed32();
  out.raw_bytes = in.fixed32();
  out.samples = in.fixed32();
  out.payload_crc = in.fixed32();
  return in.fixed32() == base::crc32c(bytes.substr(0, kChunkHeaderBytes - 4)) &&
         out.stored_bytes <= kMaxChunkBytes && out.raw_bytes <= kMaxChunkBytes;
}

base::Result<std::string> decode_payload(const ChunkHeader& header, std::string_view stored) {
  using base::ErrorCode;
  if (stored.size() != header.stored_bytes || base::crc32c(stored) != header.payload_crc) {
    return base::make_failure(ErrorCode::kInvalidData, "checksum of a chunk does not match");
  }
  if ((header.flags & kChunkIsZstd) == 0) {
    if (header.raw_bytes != header.stored_bytes) {
      return base::make_failure(ErrorCode::kInvalidData, "a chunk has two sizes");
    }
    return std::string(stored);
  }
  // The size is limited before memory is taken: the frame's own claim is ignored.
  std::string out(header.raw_bytes, '\0');
  const std::size_t size = ZSTD_decompress(out.data(), out.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0 || size != out.size()) {
    return base::make_failure(ErrorCode::kInvalidData, "a chunk cannot be decompressed");
  }
  return out;
}

} // namespace jprof::profile
