// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/error.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace jprof::base {

// Several failures as one: the code of the first, all messages, and each cure once. REQUIRES: at
// least one.
inline Error together(std::span<const Error> errors) {
  Error out = errors.front();
  std::vector<std::string_view> cures{errors.front().cure};
  for (const Error& error : errors.subspan(1)) {
    out.message += "; " + error.message;
    if (!error.cure.empty() && std::ranges::find(cures, error.cure) == cures.end()) {
      out.cure += (out.cure.empty() ? "" : "; ") + error.cure;
      cures.push_back(error.cure);
    }
  }
  return out;
}

} // namespace jprof::base
