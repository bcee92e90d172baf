// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace jprof::inject {

// Directories of a target that may hold a copy of the agent, in order. They are constants: nothing
// in the target's environment or properties has a say.
inline constexpr std::array<const char*, 5> kPlaces = {"/tmp", "/var/tmp", "/dev/shm", "/run",
                                                       "/var/run"};

// Writes `bytes` as `name` into the held directory: a new file, mode 0444, complete and mappable as
// code, or none at all. Refuses if it would take more than a quarter of the free space: the file
// system belongs to the application. `directory` is for messages.
base::Status write_copy(int directory_fd, const char* directory, const std::string& name,
                        std::string_view bytes);

// kLimit where this process may not write a file of so many bytes (RLIMIT_FSIZE), wherever it is.
base::Status check_size_limit(std::uint64_t bytes);
// Whether files can be created in the held directory with our effective ids. Leaves nothing in it;
// like everything that a frozen file system can block, it belongs in a step with a deadline.
base::Status check_writable(int directory_fd);
// Whether a copy of `bytes` may go into the held directory, without leaving anything there: it
// fails if the file system is read-only, noexec or full, or if we may not write there (with our
// effective ids).
base::Status check_place(int directory_fd, std::uint64_t bytes);

// Why code cannot be mapped from the file or directory of this descriptor (noexec); empty if it
// can.
std::string exec_problem(int fd, const std::string& path);

} // namespace jprof::inject
