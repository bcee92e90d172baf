// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace jprof::container {

// One line of /proc/PID/maps (proc(5)). Paths are the target's choice: any bytes, newline as \012.
struct Mapping {
  std::uint64_t begin = 0, end = 0; // addresses
  std::uint64_t file_offset = 0;
  std::uint64_t inode = 0;
  std::uint32_t device_major = 0, device_minor = 0;
  bool readable = false, writable = false, executable = false;
  bool deleted = false;  // the file has lost its name; `path` is without the kernel's mark
  std::string_view path; // of the text that was parsed; empty for anonymous memory, "[stack]"
};
std::optional<Mapping> parse_mapping(std::string_view line);

// Calls `visit` for each mapping read from `fd` until it returns false, and reads at most
// `limit_bytes` (kLimit beyond). Lines that are not mappings are skipped. Memory: 64 KiB.
base::Status read_mappings(int fd, std::size_t limit_bytes,
                           const std::function<bool(const Mapping&)>& visit);

enum class Vm { kNone, kHotSpot, kOpenJ9 };
enum class Libc { kUnknown, kGlibc, kMusl };

// What a process's mappings say about it.
struct LoadedVm {
  Vm vm = Vm::kNone;
  Libc libc = Libc::kUnknown;
  std::string library; // path of libjvm or libj9vm in the process's mount namespace
  bool library_deleted = false;
  std::uint64_t library_inode = 0;
  std::string agent_library;  // path of a copy of our agent that is mapped, empty if none
  std::string other_profiler; // file name of another profiler's library, empty if none
};
// Fed with mappings; HotSpot's library also lies beside OpenJ9's, so both are looked for until the
// end.
class VmFinder {
 public:
  void add(const Mapping& mapping);
  LoadedVm result() const;

 private:
  LoadedVm found_;
  std::string openj9_;
};

} // namespace jprof::container
