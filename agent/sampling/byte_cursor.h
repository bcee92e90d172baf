// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads DWARF's variable-length encodings from memory that may not be mapped. After a failed load
// every read returns 0 and ok() is false. Signal-safe.

#include "agent/arch/safe_load.h"

#include <cstdint>

namespace jprof::agent::sampling {

class ByteCursor {
 public:
  ByteCursor(std::uint64_t begin, std::uint64_t end) : at_(begin), end_(end) {}

  bool ok() const { return ok_; }
  bool at_end() const { return !ok_ || at_ >= end_; }
  std::uint64_t address() const { return at_; }
  std::uint64_t end() const { return end_; }
  void skip(std::uint64_t bytes) { at_ += bytes; }

  template <typename T>
  T fixed() {
    T value = 0;
    if (!ok_ || at_ + sizeof(T) > end_ || !arch::load(at_, &value)) {
      ok_ = false;
      return 0;
    }
    at_ += sizeof(T);
    return value;
  }
  std::uint8_t byte() { return fixed<std::uint8_t>(); }

  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const std::uint8_t part = byte();
      value |= std::uint64_t{part & 0x7fU} << shift;
      if ((part & 0x80U) == 0) {
        return value;
      }
    }
    ok_ = false;
    return 0;
  }
  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const std::uint8_t part = byte();
      value |= std::uint64_t{part & 0x7fU} << shift;
      if ((part & 0x80U) == 0) {
        const bool negative = (part & 0x40U) != 0;
        return static_cast<std::int64_t>(negative ? value | ~std::uint64_t{0} << (shift + 7)
                                                  : value);
      }
    }
    ok_ = false;
    return 0;
  }

 private:
  std::uint64_t at_;
  std::uint64_t end_;
  bool ok_ = true;
};

} // namespace jprof::agent::sampling
