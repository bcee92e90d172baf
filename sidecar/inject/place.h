// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace jprof::inject {

// Directories of a target in which a copy of the agent may lie, in order. Constants: nothing of the
// target's environment or properties has a say.
inline constexpr std::array<const char*, 5> kPlaces = {"/tmp", "/var/tmp", "/dev/shm", "/run",
                                                       "/var/run"};

// Writes `bytes` as `name` into the held directory: a new file, mode 0444, complete and executable
// by mapping, or none at all. Refuses where it would take more than a quarter of the free room: the
// file system is the application's. `directory` is for messages.
base::Status write_copy(int directory_fd, const char* directory, const std::string& name,
                        std::string_view bytes);

// Whether files can be made in the held directory, by our effective ids. Nothing is left in it;
// like everything that a frozen file system holds up, it is for a step with a deadline.
base::Status check_writable(int directory_fd);
// Whether a copy of `bytes` may go into the held directory, without leaving anything: file system
// read-only, noexec or full, no right to write there (by our effective ids).
base::Status check_place(int directory_fd, std::uint64_t bytes);

// Why code cannot be mapped from the file or directory behind this descriptor (noexec); empty if it
// can.
std::string exec_problem(int fd, const std::string& path);

} // namespace jprof::inject
