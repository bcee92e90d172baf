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

// The kernel's name of a thread; returns its length, at most `bytes`.
std::size_t thread_name(std::int32_t tid, char* to, std::size_t bytes);
// True if that thread of ours has this signal in its mask now.
bool blocks_signal(std::int32_t tid, int signal);

// True if a seccomp filter looks at the system calls of the calling thread; also where it cannot be
// told.
bool has_seccomp_filter();

// Descriptors that the process has open; ~0 where they cannot be counted.
std::uint64_t count_open_files();

// SigQ of /proc/self/status: signals queued and allowed for this user. False if unreadable.
bool queued_signals(std::uint64_t* queued, std::uint64_t* limit);

// Reads a number in decimal; stops at the first other character.
std::uint64_t parse_number(const char* text, const char** end);

// Writes a number in decimal; returns the end.
char* write_number(char* to, std::uint64_t value);
// Copies text without its NUL; returns the end.
char* write_text(char* to, const char* text);

} // namespace jprof::agent::os
