// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/columns.h"

#include "lib/base/check.h"

#include <zlib.h>

namespace jprof::page {
namespace {

// Level 9 costs 7 times level 6 for 3 % of size: only where that is nothing.
constexpr std::size_t kCheapBytes = 16'384;
// A column larger than this is judged by so much of its middle.
constexpr std::size_t kSampleBytes = 65'536;
// A body below this is one piece: codes of their own would cost its columns more than they save.
constexpr std::size_t kOnePiece = 32768;

// Packs pieces that end at a byte and refer to nothing before them, so that joined they are one
// deflate stream. One state serves all: making it anew costs more than packing a small column.
class Deflater {
 public:
  Deflater() {
    JPROF_CHECK(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9,
                             Z_DEFAULT_STRATEGY) == Z_OK);
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  std::string pack(std::string_view raw, int level, int strategy, bool last) {
    JPROF_CHECK(deflateReset(&stream_) == Z_OK);
    // The flush at the end is not in the bound.
    std::string out(deflateBound(&stream_, static_cast<uLong>(raw.size())) + 16, '\0');
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    // Before there is any input: it would be packed as the piece before was.
    stream_.avail_in = 0;
    JPROF_CHECK(deflateParams(&stream_, level, strategy) == Z_OK);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
    stream_.avail_in = static_cast<uInt>(raw.size());
    const int result = deflate(&stream_, last ? Z_FINISH : Z_FULL_FLUSH);
    JPROF_CHECK(result == (last ? Z_STREAM_END : Z_OK) && stream_.avail_in == 0);
    out.resize(stream_.total_out);
    return out;
  }

 private:
  z_stream stream_{};
};

// Numbers that repeat no sequence are smaller without the search for one, which mistakes chance for
// a pattern; names are smaller when short repetitions are passed over.
std::string pack_column(Deflater& deflater, std::string_view raw, bool last) {
  const int level = raw.size() < kCheapBytes ? 9 : 6;
  const bool small = raw.size() <= kSampleBytes;
  const std::string_view sample =
      small ? raw : raw.substr((raw.size() - kSampleBytes) / 2, kSampleBytes);
  int best = Z_DEFAULT_STRATEGY;
  std::string packed = deflater.pack(sample, level, best, last);
  for (const int strategy : {Z_FILTERED, Z_HUFFMAN_ONLY}) {
    std::string other = deflater.pack(sample, level, strategy, last);
    if (other.size() < packed.size()) {
      packed = std::move(other);
      best = strategy;
    }
  }
  return small ? packed : deflater.pack(raw, level, best, last);
}

} // namespace

void put_u32(std::string& out, std::uint64_t value) {
  JPROF_CHECK(value <= 0xffffffffU);
  for (int shift = 0; shift < 32; shift += 8) {
    out.push_back(static_cast<char>((value >> shift) & 0xff));
  }
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

void Columns::put(std::string_view id, std::string_view bytes) {
  JPROF_CHECK(id.size() == 4);
  std::string column(id);
  column.reserve(bytes.size() + 8);
  put_u32(column, bytes.size());
  column += bytes;
  columns_.push_back(std::move(column));
}

Columns::Packed Columns::pack() && {
  Packed packed;
  Deflater deflater;
  for (const std::string& column : columns_) {
    packed.raw_size += column.size();
  }
  if (packed.raw_size < kOnePiece) {
    std::string all;
    for (const std::string& column : columns_) {
      all += column;
    }
    packed.bytes = pack_column(deflater, all, true);
    return packed;
  }
  for (std::string& column : columns_) {
    packed.bytes += pack_column(deflater, column, &column == &columns_.back());
    std::string().swap(column);
  }
  return packed;
}

} // namespace jprof::page
