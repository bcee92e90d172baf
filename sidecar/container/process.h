// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "sidecar/container/status.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace jprof::container {

// A /proc file system, held by descriptor. Tests pass a fixture tree.
class ProcRoot {
 public:
  static base::Result<ProcRoot> open(const std::string& path = "/proc");

  // Every visible process, ascending.
  base::Result<std::vector<pid_t>> list_pids() const;
  int fd() const { return directory_.get(); }

 private:
  explicit ProcRoot(base::UniqueFd directory) : directory_(std::move(directory)) {}
  base::UniqueFd directory_;
};

// One process, held so that its number cannot come to mean another one: everything is read through
// a descriptor of /proc/PID, which answers ESRCH once that process has ended and been reaped.
// Movable; only send_signal changes the process. One thread at a time.
class Process {
 public:
  // kTargetNotFound if there is no such process.
  static base::Result<Process> open(const ProcRoot& proc, pid_t pid);

  pid_t pid() const { return pid_; } // in the namespace of the ProcRoot
  std::uint64_t start_ticks() const { return start_ticks_; }
  // True until the process ends: while one of its threads can still run its program. A first thread
  // may be a zombie before that (pthread_exit in main); and when a signal ends the process, its
  // threads end one by one, and from then on the kernel shows neither root nor maps.
  bool running() const;
  // Waits until it has ended, but no longer than `patience`; false if it is still alive. What a
  // process closes as it ends can be noticed a moment before its threads are seen to end.
  bool ends_within(std::chrono::milliseconds patience) const;
  static constexpr std::chrono::milliseconds kEndTime{500}; // enough, once it has begun to end
  // What ended it ("signal 9 (Killed)", "exit status 1"), as long as its parent has not yet asked
  // and if the kernel tells us; otherwise empty.
  std::string ending() const;
  // kTargetGone, with ending() if that is known, and the cure.
  base::Error gone() const;

  // The first `limit_bytes` of a file of /proc/PID ("cmdline", "task/7/comm").
  base::Result<std::string> read(const std::string& name, std::size_t limit_bytes) const;
  base::Result<std::string> read_link(const std::string& name) const;
  base::Result<ProcessStatus> status() const;
  // An O_PATH descriptor of what a magic link ("root", "cwd", "ns/mnt") stands for. The kernel
  // guards it with a ptrace check: kPermission if it refuses.
  base::Result<base::UniqueFd> open_link(const std::string& name) const;
  // Opens a file of /proc/PID for callers that read line by line ("maps").
  base::Result<base::UniqueFd> open_file(const std::string& name) const;
  // Names in a directory of /proc/PID ("task"), at most `limit`.
  base::Result<std::vector<std::string>> list(const std::string& name, std::size_t limit) const;
  // The same one by one, until `visit` returns false; reads little more than that takes.
  base::Status visit(const std::string& name,
                     const std::function<bool(const std::string&)>& visit) const;
  // The uid that owns the files of /proc/PID: the effective one of a dumpable process, otherwise 0.
  base::Result<uid_t> owner() const;
  // To this process and no other; kTargetGone once it has ended. Before kernel 5.1, or if a seccomp
  // profile hides pidfd_send_signal, there is a window of microseconds between the check and
  // kill(2).
  base::Status send_signal(int signal_number) const;

 private:
  Process(pid_t pid, base::UniqueFd directory) : pid_(pid), directory_(std::move(directory)) {}
  base::Error failure(int os_errno, const std::string& name) const;
  std::optional<ProcessStat> stat(const std::string& name = "stat") const;
  bool another_thread_runs() const;

  pid_t pid_;
  std::uint64_t start_ticks_ = 0;
  base::UniqueFd directory_;
};

// What all of its threads have used, as the kernel counts it, in nanoseconds; needs no right. None
// once it has ended and been reaped.
std::optional<std::chrono::nanoseconds> cpu_time(const Process& process);

// Time since the process was started.
std::chrono::milliseconds process_age(const Process& process);

} // namespace jprof::container
