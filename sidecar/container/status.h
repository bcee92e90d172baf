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

// What /proc/PID/status says about a process (proc(5)). It is readable for every visible process,
// even if its root and maps are not: so it is what refusals are explained from.
struct ProcessStatus {
  std::string name; // comm, up to 15 bytes that the process chose itself
  char state = '?'; // R S D T t Z X
  uid_t real_uid = 0, effective_uid = 0, saved_uid = 0;
  gid_t real_gid = 0, effective_gid = 0, saved_gid = 0;
  // The PID in each namespace from the reader's to the process's own, outermost first. Never empty.
  std::vector<pid_t> namespace_pids;
  std::uint64_t permitted_capabilities = 0, effective_capabilities = 0;
  std::uint64_t caught_signals = 0; // bit n - 1 is signal n
  // Of this thread alone. It includes SIGKILL while a thread of an ending process has yet to end.
  std::uint64_t pending_signals = 0;
  std::uint64_t threads = 0;
  std::uint64_t descriptor_slots = 0; // at least as many as it has open; 0 if unknown
  // Signals (and so POSIX timers) in use and allowed for the process's real uid; 0 if unknown.
  std::uint64_t queued_signals = 0, queued_signals_limit = 0;

  pid_t innermost_pid() const { return namespace_pids.back(); }
  // Of the thread whose status this is; of the first thread if it is a process's.
  bool ended() const { return state == 'Z' || state == 'X'; }
  bool catches(int signal_number) const {
    return (caught_signals >> (signal_number - 1) & 1U) != 0;
  }
  bool awaits(int signal_number) const {
    return (pending_signals >> (signal_number - 1) & 1U) != 0;
  }
};

// kProtocol if a line that every kernel >= 4.1 writes is missing or is not a number.
base::Result<ProcessStatus> parse_status(std::string_view text);

// From /proc/PID/stat, or that of one thread; the name in it may hold spaces and parentheses.
struct ProcessStat {
  char state = '?';
  std::uint64_t flags = 0; // PF_* of linux/sched.h
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0; // after boot, in units of sysconf(_SC_CLK_TCK)
  // As wait(2) returns it, once the thread is a zombie; also 0 if the kernel does not tell us.
  int exit_code = 0;

  // This thread no longer runs any of its program: it is a zombie, or about to be one.
  bool ending() const {
    constexpr std::uint64_t kExiting = 4; // PF_EXITING
    return state == 'Z' || state == 'X' || (flags & kExiting) != 0;
  }
  // A signal that ends one thread ends the process.
  int ended_by_signal() const { return state == 'Z' ? exit_code & 0x7f : 0; }
};
base::Result<ProcessStat> parse_stat(std::string_view text);

} // namespace jprof::container
