// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// Files of our own (never the target's: those go through sidecar/container). All opens are
// O_CLOEXEC, all calls retry EINTR. Thread-safe.
namespace jprof::base {

// The directory that `path` is in, "." if it names none.
std::string directory_of(const std::string& path);
Result<UniqueFd> open_read(const std::string& path);
// Reads at most `limit_bytes`; a longer file is kLimit. Regular files, /proc files and pipes.
Result<std::string> read_file(const std::string& path, std::size_t limit_bytes);
Result<std::string> read_all(int fd, std::size_t limit_bytes, std::string_view name);
Status write_all(int fd, std::string_view bytes, std::string_view name);
// Fills all of `out` from `offset`; a short file is kIo.
Status pread_exact(int fd, std::span<std::byte> out, std::uint64_t offset, std::string_view name);

// Commits `bytes` as `path`: temporary file in the same directory, fsync, rename, fsync of the
// directory. After a crash either the old or the new content is there, whole. Mode is octal.
enum class Replace { kAllow, kRefuse };
Status write_file_atomically(const std::string& path, std::string_view bytes, unsigned mode,
                             Replace replace = Replace::kAllow);
Status sync_directory(const std::string& path);
// mkdir -p with this mode for what it makes.
Status make_directories(const std::string& path, unsigned mode);

} // namespace jprof::base
