// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What /proc says about this process. Agent's thread only; no allocation.

#include <cstddef>
#include <cstdint>

namespace jprof::agent::os {

// True if /proc is that of our own PID namespace, so that its thread ids are ours.
bool proc_is_ours();

// Calls visit(tid, context) for each thread; false if /proc/self/task cannot be read.
bool visit_threads(void (*visit)(std::int32_t tid, void* context), void* context);

// How many threads there are; 0 if unknown.
std::uint64_t count_threads();

// The kernel's name of a thread; returns its length, at most `bytes`.
std::size_t thread_name(std::int32_t tid, char* to, std::size_t bytes);
// True if that thread of this process has this signal in its mask now.
bool blocks_signal(std::int32_t tid, int signal);

// What a thread does and who traces it. False if that is unknown: it has ended, or no descriptor is
// left.
struct ThreadState {
  char letter = 0;         // as in proc(5): R, S, D, T, t ...
  std::int32_t tracer = 0; // in our PID namespace; 0: none, or one outside it
};
bool read_thread_state(std::int32_t tid, ThreadState* state);

// The stack pointer of a thread that is not running now. False if the kernel does not say.
bool stack_pointer_of(std::int32_t tid, std::uint64_t* sp);

// A word of this process, read by the kernel; kUnmapped if there is nothing, or nothing readable.
enum class WordRead { kRead, kUnmapped, kUnknown };
WordRead read_own_word(std::uint64_t address, std::uint64_t* word);

// What the kernel lets a thread call (seccomp(2)): Seccomp and Seccomp_filters of its status.
struct Seccomp {
  std::uint64_t mode = 0;    // 0 anything, 1 read, write, exit and sigreturn, 2 what filters allow
  std::uint64_t filters = 0; // also 0 if the kernel (< 5.9) does not say how many

  // True if `other` may do less, as far as the kernel says: a thread that has the filters of the
  // process and some of its own.
  bool is_wider_than(const Seccomp& other) const {
    return other.mode == 1 || (other.mode != 0 && mode == 0) || other.filters > filters;
  }
};
// False if it is unknown.
bool read_seccomp(std::int32_t tid, Seccomp* seccomp);

// According to /proc/sys/kernel/osrelease; false if that cannot be read.
bool kernel_is_at_least(std::uint64_t major, std::uint64_t minor);

// Descriptors that the process has open; ~0 if they cannot be counted.
std::uint64_t count_open_files();

// SigQ of /proc/self/status: how many signals are queued and allowed for this user. False if
// unreadable.
bool queued_signals(std::uint64_t* queued, std::uint64_t* limit);

// Reads a number in decimal; stops at the first other character.
std::uint64_t parse_number(const char* text, const char** end);

// Writes a number in decimal; returns the end.
char* write_number(char* to, std::uint64_t value);
// Copies text without its NUL; returns the end.
char* write_text(char* to, const char* text);

} // namespace jprof::agent::os
