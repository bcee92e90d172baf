// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/encoding.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::jvm {

// What a JVM said, for a message of ours: its beginning, on one line, safe for a terminal.
inline std::string quoted(std::string_view said) {
  constexpr std::size_t kMaxBytes = 400;
  std::string line(said.substr(0, kMaxBytes + 1));
  std::ranges::replace(line, '\n', ' ');
  return base::printable(line, kMaxBytes);
}

} // namespace jprof::jvm
