// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/byte_codec.h"

namespace jprof::profile {

void ByteWriter::varint(std::uint64_t value) {
  while (value >= 0x80) {
    byte(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  byte(static_cast<std::uint8_t>(value));
}

void ByteWriter::zigzag(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  varint(bits << 1 ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

void ByteWriter::fixed16(std::uint16_t value) {
  byte(static_cast<std::uint8_t>(value));
  byte(static_cast<std::uint8_t>(value >> 8));
}

void ByteWriter::fixed32(std::uint32_t value) {
  fixed16(static_cast<std::uint16_t>(value));
  fixed16(static_cast<std::uint16_t>(value >> 16));
}

void ByteWriter::text(std::string_view bytes) {
  varint(bytes.size());
  raw(bytes);
}

void ByteWriter::field(std::uint64_t tag, std::string_view bytes) {
  varint(tag);
  text(bytes);
}

void ByteWriter::varint_field(std::uint64_t tag, std::uint64_t value) {
  ByteWriter inner;
  inner.varint(value);
  field(tag, inner.bytes());
}

void ByteWriter::zigzag_field(std::uint64_t tag, std::int64_t value) {
  ByteWriter inner;
  inner.zigzag(value);
  field(tag, inner.bytes());
}

void ByteReader::fail() {
  ok_ = false;
  rest_ = {};
}

std::uint64_t ByteReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) {
      break;
    }
    const auto next = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    const std::uint64_t part = next & 0x7fU;
    if (shift == 63 && part > 1) {
      break;
    }
    value |= part << shift;
    if (next < 0x80) {
      return value;
    }
  }
  fail();
  return 0;
}

std::int64_t ByteReader::zigzag() {
  const std::uint64_t bits = varint();
  return static_cast<std::int64_t>(bits >> 1 ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0));
}

std::uint16_t ByteReader::fixed16() {
  const std::uint32_t low = byte();
  return static_cast<std::uint16_t>(low | static_cast<std::uint32_t>(byte()) << 8);
}

std::uint32_t ByteReader::fixed32() {
  const std::uint32_t low = fixed16();
  return low | static_cast<std::uint32_t>(fixed16()) << 16;
}

std::uint8_t ByteReader::byte() {
  const std::string_view one = raw(1);
  return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one.front());
}

std::string_view ByteReader::raw(std::uint64_t count) {
  if (count > rest_.size()) {
    fail();
    return {};
  }
  const std::string_view out = rest_.substr(0, static_cast<std::size_t>(count));
  rest_.remove_prefix(out.size());
  return out;
}

bool ByteReader::field(std::uint64_t& tag, std::string_view& bytes) {
  if (at_end()) {
    return false;
  }
  tag = varint();
  bytes = text();
  return ok_;
}

} // namespace jprof::profile
