// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"

#include "lib/base/random.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

namespace jprof::base {
namespace {

Status write_new_file(const std::string& path, std::string_view bytes, unsigned mode) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd) {
    return errno_failure(errno, "cannot create " + path);
  }
  Status status = write_all(fd.get(), bytes, path);
  if (status && ::fsync(fd.get()) != 0) {
    status = errno_failure(errno, "cannot sync " + path);
  }
  if (!status) {
    ::unlink(path.c_str());
  }
  return status;
}

} // namespace

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<UniqueFd> open_read(const std::string& path) {
  for (;;) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd) {
      return fd;
    }
    if (errno != EINTR) {
      return errno_failure(errno, "cannot open " + path);
    }
  }
}

Result<std::string> read_all(int fd, std::size_t limit_bytes, std::string_view name) {
  constexpr std::size_t kStep = 64 * 1024;
  // Not zeroed, as a growing string is: most files are short, and pages not touched cost nothing.
  const auto piece = std::make_unique_for_overwrite<char[]>(kStep);
  std::string out;
  for (;;) {
    // One byte more than allowed, so that a file of exactly the limit is distinguished from a
    // longer one.
    const std::size_t want = std::min(kStep, limit_bytes + 1 - out.size());
    const ssize_t got = ::read(fd, piece.get(), want);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return errno_failure(errno, "cannot read " + std::string(name));
    }
    if (got == 0) {
      return out;
    }
    out.append(piece.get(), static_cast<std::size_t>(got));
    if (out.size() > limit_bytes) {
      return make_failure(ErrorCode::kLimit, std::string(name) + " is larger than " +
                                                 std::to_string(limit_bytes) + " bytes");
    }
  }
}

Result<std::string> read_file(const std::string& path, std::size_t limit_bytes) {
  JPROF_TRY_ASSIGN(const UniqueFd fd, open_read(path));
  return read_all(fd.get(), limit_bytes, path);
}

Status write_all(int fd, std::string_view bytes, std::string_view name) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno_failure(errno, "cannot write " + std::string(name));
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Status pread_exact(int fd, std::span<std::byte> out, std::uint64_t offset, std::string_view name) {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return errno_failure(errno, "cannot read " + std::string(name));
    }
    if (got == 0) {
      return make_failure(ErrorCode::kIo, std::string(name) + " ends before offset " +
                                              std::to_string(offset + out.size()));
    }
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Status write_file_atomically(const std::string& path, std::string_view bytes, unsigned mode,
                             Replace replace) {
  JPROF_TRY_ASSIGN(const std::string suffix, random_base32(10));
  const std::string temporary = path + ".tmp-" + suffix;
  JPROF_TRY(write_new_file(temporary, bytes, mode));
  // link(2) refuses an existing name on every POSIX system; renameat2(RENAME_NOREPLACE) is Linux.
  const int moved = replace == Replace::kAllow ? ::rename(temporary.c_str(), path.c_str())
                                               : ::link(temporary.c_str(), path.c_str());
  const int error = errno;
  if (moved != 0 || replace == Replace::kRefuse) {
    ::unlink(temporary.c_str());
  }
  if (moved != 0) {
    return errno_failure(error, "cannot create " + path);
  }
  return sync_directory(directory_of(path));
}

Status sync_directory(const std::string& path) {
  JPROF_TRY_ASSIGN(const UniqueFd fd, open_read(path));
  // Some network file systems cannot sync a directory and say EINVAL; there is no other way there.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) {
    return errno_failure(errno, "cannot sync directory " + path);
  }
  return {};
}

Status make_directories(const std::string& path, unsigned mode) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), mode) != 0 && errno != EEXIST) {
      const int error = errno;
      struct stat info {};
      // A parent on a read-only file system fails with EROFS although it exists.
      if (::stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        return errno_failure(error, "cannot create directory " + part);
      }
    }
    if (at == std::string::npos) {
      return {};
    }
  }
}

} // namespace jprof::base
