// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace jprof::sandbox {

// What the file system is to the process from now on (Landlock, where the kernel has it).
struct Paths {
  std::vector<std::string> writable; // folders, where files are made, changed and removed; or files
  std::vector<std::string> readable; // folders or files
  std::vector<int> readable_fds;     // folders, held
};

// What was had; each sentence names a part that was not, and why.
struct Entered {
  bool system_calls = false;
  bool paths = false;
  std::vector<std::string> missing;
};

// For good, for every thread of this process and every child of it: no system call but those that
// work on memory, time, files and what is open already (seccomp): no socket, no connection, no
// other program, no other process's memory. What is forbidden fails with EPERM, or EACCES for a
// path, and kills nothing. To be called when everything is open and before the first byte of a
// target is read. A kernel or container that forbids the one or the other is no failure: the rest
// is done.
Entered enter(const Paths& paths);

enum class Network {
  kNone,   // sockets of this machine's file system only (AF_UNIX)
  kListen, // besides, what OpenJ9's way to attach takes: the JVM calls back over the loopback
};

// The outer fence, for whoever looks for a JVM and attaches to it: its names, mappings and files
// are read long before everything is open. For good and for every thread and child, too: no other
// program, no other process's memory, no mount, no namespace, no network. Everything else goes on,
// enter() among it. What is forbidden fails with EPERM. Nothing, or why there is none.
std::string fence_in(Network network);

} // namespace jprof::sandbox
