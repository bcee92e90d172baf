// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// The integers of the recording format: LEB128 varints, zigzag-encoded if signed, and little-endian
// fixed-width ones (docs/formats/recording.md).
namespace jprof::profile {

class ByteWriter {
 public:
  void varint(std::uint64_t value);
  void zigzag(std::int64_t value);
  void fixed16(std::uint16_t value);
  void fixed32(std::uint32_t value);
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void raw(std::string_view bytes) { bytes_.append(bytes); }
  // The length, then the bytes.
  void text(std::string_view bytes);
  // Tag, length, bytes: a reader that does not know the tag can skip it.
  void field(std::uint64_t tag, std::string_view bytes);
  void varint_field(std::uint64_t tag, std::uint64_t value);
  void zigzag_field(std::uint64_t tag, std::int64_t value);

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads untrusted bytes. The first read past the end, or a varint of more than 64 bits, makes the
// reader bad: from then on everything reads as zero or empty, so callers need to check ok() only
// once per loop.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t varint();
  std::int64_t zigzag();
  std::uint16_t fixed16();
  std::uint32_t fixed32();
  std::uint8_t byte();
  std::string_view raw(std::uint64_t count);
  std::string_view text() { return raw(varint()); }
  // The next field; false at the end or when bad.
  bool field(std::uint64_t& tag, std::string_view& bytes);

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

 private:
  void fail();

  std::string_view rest_;
  bool ok_ = true;
};

} // namespace jprof::profile
