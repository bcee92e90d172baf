// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/progress_text.h"

#include "lib/base/counted.h"

#include <cmath>

namespace jprof::capture {

std::string whole_seconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count());
}

std::optional<double> part_of(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds duration) {
  using Seconds = std::chrono::duration<double>;
  return duration.count() > 0 ? std::optional(Seconds(elapsed) / Seconds(duration)) : std::nullopt;
}

std::string recording_text(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds duration,
                           std::uint64_t samples, std::uint64_t lost) {
  std::string out = whole_seconds(elapsed) + "/" + whole_seconds(duration) + " s, " +
                    base::counted(samples, "sample");
  // Before the first second the rate would be that of the start.
  if (elapsed >= std::chrono::seconds(1)) {
    const double rate =
        static_cast<double>(samples) / std::chrono::duration<double>(elapsed).count();
    out += ", " + std::to_string(std::llrint(rate)) + "/s";
  }
  return lost > 0 ? out + ", " + std::to_string(lost) + " lost" : out;
}

} // namespace jprof::capture
