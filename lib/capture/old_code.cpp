// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/old_code.h"

#include "lib/capture/coverage.h"

namespace jprof::capture {

std::string old_code_text(std::optional<std::chrono::nanoseconds> old_code,
                          std::chrono::nanoseconds samples) {
  if (!old_code) {
    return "unknown: how much of the time is in code compiled before the capture, where lines "
           "and inlined methods may be missing";
  }
  if (old_code->count() <= 0 || samples.count() <= 0) {
    return {};
  }
  return percent_text(static_cast<double>(old_code->count()),
                      static_cast<double>(samples.count())) +
         " of the samples' time is in code compiled before the capture: lines and inlined methods "
         "there may be missing; start the JVM with -XX:+UnlockDiagnosticVMOptions "
         "-XX:+DebugNonSafepoints";
}

} // namespace jprof::capture
