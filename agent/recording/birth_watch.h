// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which thread ids the kernel has given out since the last look: /proc/loadavg shows the last one
// in the reader's PID namespace, and ids count up. A look takes one read, however many threads
// there are; a new id that belongs to another process has no CPU clock that we may read. Agent's
// thread only.

#include <cstdint>

namespace jprof::agent::recording {

class BirthWatch {
 public:
  // Opens the file, which takes a descriptor of the process until close(). If that fails, nothing
  // is ever found. `highest` names the file with the id at which the kernel starts over.
  void open(const char* path = "/proc/loadavg", const char* highest = "/proc/sys/kernel/pid_max");
  void close();
  bool is_open() const { return fd_ >= 0; }

  // Calls visit(tid, context) for threads of this process among the ids that are new since the look
  // before the last: an id is given out a moment before its thread can be seen, so each is checked
  // twice. False if it may have missed some: ids started over at an unknown point, or there were
  // too many (a namespace shared with others). Then only a scan finds the new threads.
  bool look(std::uint64_t now_ns, void (*visit)(std::int32_t tid, void* context), void* context);

  // During look(): true if the id is being checked for the first time, so it will be checked again.
  bool is_asked_again(std::int32_t tid) const { return is_between(before_last_, last_, tid); }
  // True if the id may not have been checked twice yet, or has been given out since open().
  bool is_since_look(std::int32_t tid) const { return is_since(before_last_, tid); }
  bool is_since_open(std::int32_t tid) const { return went_round_ || is_since(opened_at_, tid); }

 private:
  std::int32_t read_last() const;
  bool is_since(std::int32_t last, std::int32_t tid) const;
  static bool is_between(std::int32_t from, std::int32_t to, std::int32_t tid);
  std::uint32_t count_from(std::int32_t from) const;
  bool may_probe(std::uint64_t now_ns, std::uint32_t count);

  int fd_ = -1;
  std::int32_t opened_at_ = 0;
  std::int32_t before_last_ = 0; // as of the look before the last
  std::int32_t last_ = 0;
  std::int32_t end_ = 0;          // no id is this high; 0: unknown
  bool wrapped_ = false;          // ids have started over since open()
  bool went_round_ = false;       // ... and every id has been given out again
  std::uint32_t probes_left_ = 0; // in the current second
  std::uint64_t second_ends_ns_ = 0;
};

} // namespace jprof::agent::recording
