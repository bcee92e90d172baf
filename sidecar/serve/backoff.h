// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/random.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>

namespace jprof::serve {

// When to retry what failed: a delay that doubles from half a second to a minute, of which a random
// part is taken (full jitter), so that many sidecars that lost the same store do not come back in
// waves.
class Backoff {
 public:
  std::chrono::milliseconds next() {
    constexpr std::int64_t kBase = 500;
    constexpr std::int64_t kMax = 60'000;
    const std::int64_t ceiling = std::min(kMax, kBase << std::min(failures_, 10));
    ++failures_;
    std::uint64_t random = 0;
    // Without randomness: the whole delay.
    if (!base::random_bytes(std::as_writable_bytes(std::span(&random, 1)))) {
      return std::chrono::milliseconds(ceiling);
    }
    return std::chrono::milliseconds(
        1 + static_cast<std::int64_t>(random % static_cast<std::uint64_t>(ceiling)));
  }
  void succeeded() { failures_ = 0; }
  bool has_failed() const { return failures_ > 0; }

 private:
  int failures_ = 0;
};

} // namespace jprof::serve
