// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace jprof::capture {

// Where the CPU time went that the JVM used during a capture: `process` is the kernel's account of
// the whole process, so that time which no sample stands for shows, whatever the cause.
// docs/formats/capture.md.
struct Coverage {
  std::chrono::nanoseconds process{0}; // 0: not known
  // The process ended, and the kernel could not be asked any more: it has used `process` at least,
  // and there is no whole of which anything were a share.
  bool at_least = false;
  std::chrono::nanoseconds samples{0}; // sum of their weights
  // In the profile without a stack (lib/profile/rest.h): after the last sample of a thread, which
  // is likely the same work as what its samples show; of threads without a sample; of threads that
  // had ended before their clock was read for the last time, if it ever was.
  std::chrono::nanoseconds after_last{0};
  std::chrono::nanoseconds not_sampled{0};
  std::chrono::nanoseconds ended_unseen{0};
  std::chrono::nanoseconds handlers{0};  // the handlers' own work: in the samples of their threads
  std::chrono::nanoseconds agent{0};     // the agent's own thread, which is not sampled
  std::chrono::nanoseconds tolerance{0}; // three standard errors, see timer_tolerance

  bool known() const { return process.count() > 0; }
  // Time that is not in the profile; below 0 where it stands for more than there was.
  std::chrono::nanoseconds missing() const {
    return process - samples - after_last - not_sampled - ended_unseen - agent;
  }
  // Time of which no sample shows what it was used for.
  std::chrono::nanoseconds unexplained() const { return missing() + not_sampled + ended_unseen; }
  // False where shares may mislead: 5 % of the time, and more than timers can be wrong by.
  bool complete() const;

  bool operator==(const Coverage&) const = default;
};

// Three standard errors of what timers account for: what a thread has used before its first and
// after its last signal is known to an interval, or the tick if that is longer, and no thread can
// be wrong by more than what it has used.
std::chrono::nanoseconds timer_tolerance(std::chrono::nanoseconds interval,
                                         std::chrono::nanoseconds tick, std::uint64_t threads,
                                         std::chrono::nanoseconds process);

// What people read: "4.97 s used by the JVM: 4.81 s in samples (...), ...".
std::string coverage_text(const Coverage& coverage);
// Why the profile may mislead, with the `causes` that are known; empty for a complete one.
std::string coverage_warning(const Coverage& coverage, const std::string& causes);

base::Json coverage_json(const Coverage& coverage);
Coverage coverage_from_json(const base::Json& json);

// What part of the whole it is: "12.3 %", "0.25 %"; "-" of nothing.
std::string percent_text(double part, double whole);

// Three digits that matter: "10.0 ms", "1.25 s", "812 us".
std::string time_text(std::chrono::nanoseconds time);

} // namespace jprof::capture
