// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/line_table.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace jprof::record {
namespace {

constexpr std::int64_t kMaxBci = 0xffff;  // JVMS 4.7.3
constexpr std::int64_t kMaxLine = 0xffff; // JVMS 4.7.12

class Stream {
 public:
  Stream(std::string_view bytes, bool excludes_zero)
      : bytes_(bytes), bias_(excludes_zero ? 1 : 0) {}

  std::optional<std::uint8_t> byte() {
    if (at_ == bytes_.size()) {
      return std::nullopt;
    }
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }

  // Up to five bytes of six bits each, the last one below 192; signed numbers have their sign in
  // bit 0.
  std::optional<std::int64_t> signed_number() {
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < 5; ++i) {
      const std::optional<std::uint8_t> next = byte();
      if (!next || *next < bias_) {
        return std::nullopt;
      }
      sum += static_cast<std::uint32_t>(*next - bias_) << (6 * i);
      if (*next < 192) {
        break;
      }
    }
    return static_cast<std::int32_t>((sum >> 1) ^ (0U - (sum & 1U)));
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  unsigned bias_;
};

} // namespace

LineTable::LineTable(std::string_view bytes, bool excludes_zero) {
  Stream in(bytes, excludes_zero);
  std::int64_t bci = 0;
  std::int64_t line = 0;
  for (;;) {
    const std::optional<std::uint8_t> next = in.byte();
    if (!next || *next == 0) {
      break;
    }
    std::optional<std::int64_t> forward = *next >> 3;
    std::optional<std::int64_t> down = *next & 7;
    if (*next == 0xff) {
      forward = in.signed_number();
      down = in.signed_number();
    }
    if (!forward || !down) {
      break;
    }
    bci += *forward;
    line += *down;
    if (bci < 0 || bci > kMaxBci || line < 0 || line > kMaxLine) {
      entries_.clear(); // no line table
      return;
    }
    entries_.emplace_back(static_cast<std::uint32_t>(bci), static_cast<std::int32_t>(line));
  }
  std::ranges::stable_sort(entries_, {}, &std::pair<std::uint32_t, std::int32_t>::first);
}

std::int32_t LineTable::line_of(std::uint32_t bci) const {
  const auto behind =
      std::ranges::upper_bound(entries_, bci, {}, &std::pair<std::uint32_t, std::int32_t>::first);
  return behind == entries_.begin() ? 0 : std::prev(behind)->second;
}

} // namespace jprof::record
