// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/unpack.h"

#include "lib/base/unique_resource.h"
#include "lib/formats/text_check.h"
#include "lib/profile/recording_format.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>

namespace jprof::formats {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd";
constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr int kGzipOnly = 15 + 16; // largest window, gzip's header (zlib.h, inflateInit2)

base::Status damaged(const std::string& what) {
  return base::make_failure(base::ErrorCode::kInvalidData, what,
                            "fetch or compress the file again: it is damaged or incomplete");
}

// Takes what was unpacked, piece by piece, as long as it may still become a profile.
class Taker {
 public:
  explicit Taker(std::size_t limit_bytes) : limit_(limit_bytes) {}

  base::Status take(std::string_view piece) {
    if (piece.size() > limit_ - text_.size()) {
      return base::make_failure(base::ErrorCode::kLimit,
                                "this decompresses to more than " + std::to_string(limit_ >> 20) +
                                    " MiB",
                                "decompress it into a file (gzip -d, zstd -d) and name that");
    }
    text_ += piece;
    check_.add(piece);
    const std::string_view begin =
        std::string_view(text_).substr(0, profile::kRecordingMagic.size());
    return profile::kRecordingMagic.starts_with(begin) ? base::Status() : check_.verdict();
  }
  std::string text() { return std::move(text_); }

 private:
  std::size_t limit_;
  std::string text_;
  TextCheck check_;
};

struct InflateTraits {
  using Handle = z_stream*;
  static Handle invalid() { return nullptr; }
  static void close(Handle stream) { inflateEnd(stream); }
};

struct ZstdTraits {
  using Handle = ZSTD_DStream*;
  static Handle invalid() { return nullptr; }
  static void close(Handle stream) { ZSTD_freeDStream(stream); }
};

base::Status unpack_gzip(std::string_view bytes, Taker& taker) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) {
    return base::make_failure(base::ErrorCode::kInternal, "zlib does not start");
  }
  const base::UniqueResource<InflateTraits> owner(&stream);
  std::string piece(kPiece, '\0');
  int state = Z_OK;
  for (bool full = false;;) { // full: more may come without more input
    if (stream.avail_in == 0 && !full) {
      const std::size_t next = std::min(bytes.size(), kPiece);
      if (next == 0) {
        return state == Z_STREAM_END ? base::Status() : damaged("this gzip data ends early");
      }
      // zlib only reads it; its interface is older than const.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(next);
      bytes.remove_prefix(next);
    }
    if (state == Z_STREAM_END) {
      inflateReset(&stream); // the next member
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
      return damaged("this gzip data is damaged, or something else follows it");
    }
    full = stream.avail_out == 0 && state != Z_STREAM_END;
    JPROF_TRY(taker.take(std::string_view(piece).substr(0, piece.size() - stream.avail_out)));
  }
}

base::Status unpack_zstd(std::string_view bytes, Taker& taker) {
  const base::UniqueResource<ZstdTraits> stream(ZSTD_createDStream());
  if (!stream) {
    return base::make_failure(base::ErrorCode::kInternal, "zstd does not start");
  }
  std::string piece(kPiece, '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t left = 1; // 0: a frame has ended and is out as a whole
  for (bool full = false; in.pos < in.size || full;) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left) != 0) {
      return damaged(std::string("this zstd data cannot be decompressed: ") +
                     ZSTD_getErrorName(left));
    }
    full = out.pos == out.size && left != 0;
    JPROF_TRY(taker.take(std::string_view(piece).substr(0, out.pos)));
  }
  return left == 0 ? base::Status() : damaged("this zstd data ends early");
}

} // namespace

std::string_view packer_of(std::string_view bytes) {
  constexpr std::string_view kXz{"\xfd\x37zXZ\0", 6};
  constexpr std::string_view kBzip2 = "1AY&SY"; // behind "BZh" and the level
  return bytes.starts_with(kGzip)                ? "gzip"
         : bytes.starts_with(kZstd)              ? "zstd"
         : bytes.starts_with(kXz)                ? "xz"
         : bytes.starts_with("PK\x03\x04")       ? "zip"
         : bytes.starts_with("\x04\x22\x4d\x18") ? "lz4"
         : bytes.substr(0, 3) == "BZh" &&
                 bytes.substr(std::min<std::size_t>(bytes.size(), 4)).starts_with(kBzip2)
             ? "bzip2"
             : "";
}

bool is_packed(std::string_view bytes) {
  return bytes.starts_with(kGzip) || bytes.starts_with(kZstd);
}

base::Result<std::string> unpack(std::string_view bytes, std::size_t limit_bytes) {
  Taker taker(limit_bytes);
  JPROF_TRY(bytes.starts_with(kGzip) ? unpack_gzip(bytes, taker) : unpack_zstd(bytes, taker));
  return taker.text();
}

} // namespace jprof::formats
