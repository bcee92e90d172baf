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

// Ends at a byte and refers to nothing before it, so that pieces joined are one deflate stream.
std::string deflate_piece(std::string_view raw, int level, int strategy, bool last) {
  z_stream stream{};
  JPROF_CHECK(deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 9, strategy) == Z_OK);
  // The flush at the end is not in the bound.
  std::string out(deflateBound(&stream, static_cast<uLong>(raw.size())) + 16, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
  stream.avail_in = static_cast<uInt>(raw.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, last ? Z_FINISH : Z_FULL_FLUSH);
  JPROF_CHECK(result == (last ? Z_STREAM_END : Z_OK) && stream.avail_in == 0);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Numbers that repeat no sequence are smaller without the search for one, which mistakes chance for
// a pattern; names are smaller when short repetitions are passed over.
int best_strategy(std::string_view raw) {
  if (raw.size() > kSampleBytes) {
    raw = raw.substr((raw.size() - kSampleBytes) / 2, kSampleBytes);
  }
  int best = Z_DEFAULT_STRATEGY;
  std::size_t smallest = deflate_piece(raw, 6, best, true).size();
  for (const int strategy : {Z_FILTERED, Z_HUFFMAN_ONLY}) {
    const std::size_t size = deflate_piece(raw, 6, strategy, true).size();
    if (size < smallest) {
      smallest = size;
      best = strategy;
    }
  }
  return best;
}

std::string pack_column(std::string_view raw, bool last) {
  return deflate_piece(raw, raw.size() < kCheapBytes ? 9 : 6, best_strategy(raw), last);
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
  for (const std::string& column : columns_) {
    packed.raw_size += column.size();
  }
  if (packed.raw_size < kOnePiece) {
    std::string all;
    for (const std::string& column : columns_) {
      all += column;
    }
    packed.bytes = pack_column(all, true);
    return packed;
  }
  for (std::string& column : columns_) {
    packed.bytes += pack_column(column, &column == &columns_.back());
    std::string().swap(column);
  }
  return packed;
}

} // namespace jprof::page
