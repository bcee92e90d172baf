// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/inject/place.h"

#include "lib/base/file.h"
#include "lib/base/unique_fd.h"
#include "sidecar/container/target_root.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace jprof::inject {
namespace {

using base::ErrorCode;
using base::UniqueFd;

constexpr std::uint64_t kRoomFactor = 4;

// access(2) checks rights. Only a file shows whether a file system is frozen, out of inodes or over
// its quota; this one never has a name, so that nothing is left of it. Not every file system
// supports it.
base::Status try_nameless_file(const std::string& directory) {
  const UniqueFd file(::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  const bool unknown = errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL;
  if (file || unknown) {
    return {};
  }
  return base::make_failure(ErrorCode::kNoPlaceForAgent,
                            std::string("no file can be made in it (") + std::strerror(errno) +
                                ")");
}

base::Status check_room(int directory, std::uint64_t bytes) {
  struct statvfs system {};
  if (::fstatvfs(directory, &system) != 0) {
    return base::errno_failure(errno, "its file system cannot be examined");
  }
  if ((system.f_flag & ST_RDONLY) != 0) {
    return base::make_failure(ErrorCode::kNoPlaceForAgent, "it is read-only");
  }
  if ((system.f_flag & ST_NOEXEC) != 0) {
    return base::make_failure(ErrorCode::kNoPlaceForAgent, "it is mounted noexec");
  }
  const std::uint64_t room = std::uint64_t{system.f_bavail} * system.f_frsize;
  const bool limited = system.f_blocks != 0; // a tmpfs without a size says 0
  if (limited && room < bytes * kRoomFactor) {
    return base::make_failure(ErrorCode::kNoPlaceForAgent,
                              "it has only " + std::to_string(room) + " bytes free of the " +
                                  std::to_string(bytes * kRoomFactor) + " that are needed");
  }
  if (system.f_files != 0 && system.f_favail == 0) {
    return base::make_failure(ErrorCode::kNoPlaceForAgent, "it has no inode free");
  }
  return {};
}

// Asks the kernel for what the JVM's loader will ask for: neither flag nor mode tells everything
// (security modules).
base::Status check_mapping(int directory, const std::string& name) {
  const UniqueFd file(
      ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat entry {};
  if (!file || ::fstat(file.get(), &entry) != 0 || !S_ISREG(entry.st_mode) || entry.st_nlink != 1) {
    return base::make_failure(ErrorCode::kNoPlaceForAgent, "somebody changed the copy");
  }
  void* mapping = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
  if (mapping == MAP_FAILED) {
    return base::make_failure(ErrorCode::kNoPlaceForAgent,
                              std::string("code cannot be mapped from it: ") +
                                  std::strerror(errno));
  }
  ::munmap(mapping, 4096);
  return {};
}

} // namespace

std::string exec_problem(int fd, const std::string& path) {
  struct statvfs system {};
  if (::fstatvfs(fd, &system) == 0 && (system.f_flag & ST_NOEXEC) != 0) {
    return path + " is on a file system that is mounted noexec";
  }
  return {};
}

base::Status check_writable(int directory_fd) {
  const std::string path = container::descriptor_path(directory_fd);
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return base::make_failure(ErrorCode::kNoPlaceForAgent,
                              std::string("it cannot be written (") + std::strerror(errno) + ")");
  }
  return try_nameless_file(path);
}

base::Status check_size_limit(std::uint64_t bytes) {
  rlimit sizes{};
  if (::getrlimit(RLIMIT_FSIZE, &sizes) != 0 || bytes <= sizes.rlim_cur) {
    return {};
  }
  return base::make_failure(ErrorCode::kLimit,
                            "the agent cannot be copied into the JVM's container: its file has " +
                                std::to_string(bytes) + " bytes, and jprof may write " +
                                std::to_string(sizes.rlim_cur) + " into a file",
                            "raise the limit on the size of files (ulimit -f) that jprof has");
}

base::Status check_place(int directory_fd, std::uint64_t bytes) {
  JPROF_TRY(check_room(directory_fd, bytes));
  return check_writable(directory_fd);
}

base::Status write_copy(int directory_fd, const char* directory, const std::string& name,
                        std::string_view bytes) {
  JPROF_TRY(check_room(directory_fd, bytes.size()));
  UniqueFd file(::openat(directory_fd, name.c_str(),
                         O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0400));
  if (!file) {
    return base::make_failure(ErrorCode::kNoPlaceForAgent,
                              std::string("it cannot be written (") + std::strerror(errno) + ")");
  }
  base::Status done = base::write_all(file.get(), bytes, std::string(directory) + "/" + name);
  if (done && ::fchmod(file.get(), 0444) != 0) {
    done = base::errno_failure(errno, "cannot set the mode of the copy");
  }
  file.reset(); // a library that is open for writing may not be executed
  if (done) {
    done = check_mapping(directory_fd, name);
  }
  if (!done) {
    ::unlinkat(directory_fd, name.c_str(), 0);
  }
  return done;
}

} // namespace jprof::inject
