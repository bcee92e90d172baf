// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace jprof::container {

// What /proc/PID/status says of a process (proc(5)). Readable for every process that is visible at
// all, also where its root and maps are not: so it is what refusals are explained from.
struct ProcessStatus {
  std::string name; // comm, up to 15 bytes that the process chose itself
  char state = '?'; // R S D T t Z X
  uid_t real_uid = 0, effective_uid = 0, saved_uid = 0;
  gid_t real_gid = 0, effective_gid = 0, saved_gid = 0;
  // The PID in each namespace from the reader's to the process's own, outermost first. Never empty.
  std::vector<pid_t> namespace_pids;
  std::uint64_t permitted_capabilities = 0, effective_capabilities = 0;
  std::uint64_t caught_signals = 0; // bit n - 1 is signal n
  std::uint64_t threads = 0;
  std::uint64_t descriptor_slots = 0; // at least as many as it has open; 0 if not told
  // Signals (and so POSIX timers) in use and allowed for the process's real uid; 0 if not told.
  std::uint64_t queued_signals = 0, queued_signals_limit = 0;

  pid_t innermost_pid() const { return namespace_pids.back(); }
  bool catches(int signal_number) const {
    return (caught_signals >> (signal_number - 1) & 1U) != 0;
  }
};

// kProtocol where a line that every kernel >= 4.1 writes is missing or no number.
base::Result<ProcessStatus> parse_status(std::string_view text);

// State and start time from /proc/PID/stat; the name in it may hold spaces and parentheses.
struct ProcessStat {
  char state = '?';
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0; // after boot, in units of sysconf(_SC_CLK_TCK)

  // A first thread that has ended (pthread_exit in main) is a zombie while others of the process
  // run.
  bool running() const { return (state != 'Z' && state != 'X') || threads > 1; }
};
base::Result<ProcessStat> parse_stat(std::string_view text);

} // namespace jprof::container
