// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/byte_size.h"

#include <array>
#include <charconv>
#include <limits>

namespace jprof::config {
namespace {

struct ByteUnit {
  std::string_view name;
  std::string_view short_name;
  std::uint64_t bytes;
};
constexpr std::array<ByteUnit, 5> kUnits{{{"TiB", "Ti", std::uint64_t{1} << 40},
                                          {"GiB", "Gi", std::uint64_t{1} << 30},
                                          {"MiB", "Mi", std::uint64_t{1} << 20},
                                          {"KiB", "Ki", std::uint64_t{1} << 10},
                                          {"B", "B", 1}}};

} // namespace

base::Result<std::uint64_t> parse_byte_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status == std::errc()) {
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const ByteUnit& row : kUnits) {
      if ((unit == row.name || unit == row.short_name) &&
          number <= std::numeric_limits<std::int64_t>::max() / row.bytes) {
        return number * row.bytes;
      }
    }
  }
  return base::make_failure(base::ErrorCode::kUsage, "not a size: '" + std::string(text) + "'",
                            "write a whole number with a unit: 512B, 64KiB, 200MiB, 1GiB");
}

std::string format_byte_size(std::uint64_t bytes) {
  for (const ByteUnit& row : kUnits) {
    if (bytes != 0 && bytes % row.bytes == 0) {
      return std::to_string(bytes / row.bytes) + std::string(row.name);
    }
  }
  return "0B";
}

} // namespace jprof::config
