// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/ulid.h"

#include "lib/base/random.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace jprof::base {
namespace {

constexpr std::string_view kCrockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

} // namespace

Result<std::string> make_ulid(std::chrono::system_clock::time_point now) {
  const auto millis = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count());
  std::array<std::byte, 16> random{};
  JPROF_TRY(random_bytes(random));
  std::string out(26, '0');
  for (std::size_t i = 0; i < 10; ++i) {
    out[i] = kCrockford[millis >> (45 - 5 * i) & 31];
  }
  for (std::size_t i = 0; i < 16; ++i) {
    out[10 + i] = kCrockford[std::to_integer<unsigned>(random[i]) & 31];
  }
  return out;
}

bool is_ulid(std::string_view text) {
  return text.size() == 26 && text[0] <= '7' && std::all_of(text.begin(), text.end(), [](char c) {
           return kCrockford.find(c) != std::string_view::npos;
         });
}

} // namespace jprof::base
