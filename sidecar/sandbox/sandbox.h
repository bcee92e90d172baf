// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace jprof::sandbox {

// What the process can reach of the file system from now on (Landlock, if the kernel has it).
struct Paths {
  std::vector<std::string>
      writable; // folders, where files are created, changed and removed; or files
  std::vector<std::string> readable; // folders or files
  std::vector<int> readable_fds;     // folders, held
};

// What was achieved; each sentence names a part that was not, and why.
struct Entered {
  bool system_calls = false;
  bool paths = false;
  std::vector<std::string> missing;
};

// For good, for every thread of this process and every child of it: only the system calls that work
// on memory, time, files and what is already open (seccomp): no socket, no connection, no other
// program, no other process's memory. What is forbidden fails with EPERM, or EACCES for a path, and
// kills nothing. Call it when everything is open and before the first byte of a target is read. A
// kernel or container that forbids the one or the other is no failure: the rest is done.
Entered enter(const Paths& paths);

enum class Network {
  kNone,   // sockets of this machine's file system only (AF_UNIX)
  kListen, // in addition, what attaching to OpenJ9 takes: the JVM connects back over the loopback
};

// The outer fence, for processes that look for a JVM and attach to it: its names, mappings and
// files are read long before everything is open. Also for good and for every thread and child: no
// other program, no other process's memory, no mount, no namespace, no network. Everything else
// still works, including enter(). What is forbidden fails with EPERM. Returns why there is none, or
// nothing.
std::string fence_in(Network network);

} // namespace jprof::sandbox
