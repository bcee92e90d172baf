// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/standstill.h"

namespace jprof::record {
namespace {

// For a process that the kernel says is stopped; a traced JVM keeps stopping for moments.
constexpr std::chrono::milliseconds kStopped{700};
// For any other: under a CPU quota a process runs in each period, which lasts at most a second.
constexpr std::chrono::milliseconds kFrozen{2500};

} // namespace

std::string Standstill::look(Clock::time_point now) {
  const std::optional<std::chrono::nanoseconds> cpu = container::cpu_time(process_);
  if (!cpu || cpu != cpu_) {
    cpu_ = cpu;
    since_ = now;
    return {};
  }
  if (now - since_ < kStopped) {
    return {};
  }
  const auto status = process_.status();
  if (status && status->state == 'T') {
    return "the JVM is stopped (SIGSTOP) and cannot answer";
  }
  if (status && status->state == 't') {
    return "a debugger holds the JVM, which cannot answer";
  }
  return now - since_ < kFrozen ? std::string()
                                : "no thread of the JVM is running any more (a frozen container, "
                                  "or no CPU time left for it), so it cannot answer";
}

} // namespace jprof::record
